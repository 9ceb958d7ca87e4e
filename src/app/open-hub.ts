// The skills hub of a home with what it needs of the other parts: guarded requests, addresses, a token, its own folder.
import { join } from "node:path";
import { openSettings } from "../config/api.ts";
import type { Home } from "../core/home.ts";
import type { WebFetch } from "../core/web.ts";
import { shippedFolder } from "../home/shipped-folder.ts";
import { knownSecrets } from "../security/known-secrets.ts";
import { createRedactor } from "../security/redact.ts";
import type { UrlPolicy } from "../security/url-guard.ts";
import { urlPolicy } from "../security/url-policy.ts";
import { Hub } from "../skills/hub/hub.ts";

declare const __HERMES_VERSION__: string | undefined;

/** Other addresses of the services, for mirrors; these may be on the local network. */
const ADDRESSES = {
  api: ["HERMES_GITHUB_API_URL", "https://api.github.com"],
  raw: ["HERMES_GITHUB_RAW_URL", "https://raw.githubusercontent.com"],
  skillsSh: ["HERMES_SKILLS_SH_URL", "https://skills.sh"],
} as const;

function addressOf(home: Home, name: keyof typeof ADDRESSES): string {
  const [variable, usual] = ADDRESSES[name];
  return (home.env[variable]?.trim() || usual).replace(/\/+$/, "");
}

/** Only what a variable names may be private: a redirect to another machine of the local network stays refused. */
function configuredHosts(home: Home): string[] {
  return Object.values(ADDRESSES).flatMap(([variable]) => {
    const text = home.env[variable]?.trim() ?? "";
    if (!URL.canParse(text)) return [];
    const { hostname, port, protocol } = new URL(text);
    return [`${hostname.replace(/^\[|\]$/g, "").toLowerCase()}:${port || (protocol === "https:" ? 443 : 80)}`];
  });
}

function fetchUnder(policy: UrlPolicy): WebFetch {
  return async (url, request = {}) => {
    const { guardedFetch } = await import("../security/guarded-fetch.ts");
    return guardedFetch(url, { ...request, policy });
  };
}

export async function openHub(home: Home): Promise<Hub> {
  const { config } = await openSettings(home).load();
  const redactor = createRedactor({ values: knownSecrets(home, config), enabled: config.security.redact_secrets });
  const urls = urlPolicy(home, config, redactor);
  const { redactor: _, ...services } = urls;
  const token = home.env.GITHUB_TOKEN?.trim() || home.env.GH_TOKEN?.trim();
  return new Hub({
    skillsDir: join(home.path, "skills"),
    optional: shippedFolder(home, "optional-skills"),
    fetch: fetchUnder(urls),
    service: fetchUnder({ ...services, allowHosts: configuredHosts(home) }),
    github: { api: addressOf(home, "api"), raw: addressOf(home, "raw"), ...(token ? { token } : {}) },
    skillsSh: addressOf(home, "skillsSh"),
    version: typeof __HERMES_VERSION__ === "string" ? __HERMES_VERSION__ : "development",
    now: () => new Date(),
  });
}
