// Composes the skills hub of a home: guarded requests, service addresses, a GitHub token and its folders.
import { join } from "node:path";
import { openSettings } from "../config/api.ts";
import type { Home } from "../core/home.ts";
import type { WebFetch } from "../core/web.ts";
import { shippedFolder } from "../home/shipped-folder.ts";
import { knownSecrets } from "../security/known-secrets.ts";
import { createRedactor } from "../security/redact.ts";
import type { UrlPolicy } from "../security/url-guard.ts";
import { urlPolicy } from "../security/url-policy.ts";
import { type HubActions, hubActions } from "../skills/hub/api.ts";
import { Hub } from "../skills/hub/hub.ts";

declare const __HERMES_VERSION__: string | undefined;

/** Addresses of the services. A variable may name a mirror instead, also one on the local network. */
const ADDRESSES = {
  api: ["HERMES_GITHUB_API_URL", "https://api.github.com"],
  raw: ["HERMES_GITHUB_RAW_URL", "https://raw.githubusercontent.com"],
  skillsSh: ["HERMES_SKILLS_SH_URL", "https://skills.sh"],
} as const;

function serviceAddress(home: Home, name: keyof typeof ADDRESSES): string {
  const [variable, usual] = ADDRESSES[name];
  return (home.env[variable]?.trim() || usual).replace(/\/+$/, "");
}

/** Hosts named by these variables may be private; a redirect to another private address is still refused. */
function configuredHosts(home: Home): string[] {
  return Object.values(ADDRESSES).flatMap(([variable]) => {
    const text = home.env[variable]?.trim() ?? "";
    if (!URL.canParse(text)) return [];
    const { hostname, port, protocol } = new URL(text);
    return [`${hostname.replace(/^\[|\]$/g, "").toLowerCase()}:${port || (protocol === "https:" ? 443 : 80)}`];
  });
}

function createFetch(policy: UrlPolicy): WebFetch {
  return async (url, request = {}) => {
    const { guardedFetch } = await import("../security/guarded-fetch.ts");
    return guardedFetch(url, { ...request, policy });
  };
}

async function openHub(home: Home): Promise<Hub> {
  const { config } = await openSettings(home).load();
  const redactor = createRedactor({ values: knownSecrets(home, config), enabled: config.security.redact_secrets });
  const urls = urlPolicy(home, config, redactor);
  const { redactor: _, ...services } = urls;
  const token = home.env.GITHUB_TOKEN?.trim() || home.env.GH_TOKEN?.trim();
  return new Hub({
    skillsDir: join(home.path, "skills"),
    optional: shippedFolder(home, "optional-skills"),
    fetch: createFetch(urls),
    service: createFetch({ ...services, allowHosts: configuredHosts(home) }),
    github: { api: serviceAddress(home, "api"), raw: serviceAddress(home, "raw"), token: token || undefined },
    skillsSh: serviceAddress(home, "skillsSh"),
    version: typeof __HERMES_VERSION__ === "string" ? __HERMES_VERSION__ : "development",
    now: () => new Date(),
  });
}

export async function openHubActions(home: Home): Promise<HubActions> {
  return hubActions(await openHub(home));
}
