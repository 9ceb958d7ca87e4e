// Opens the skills of a home and the hub: guarded requests, addresses, tokens and folders are passed in.

import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { openSettings } from "../config/api.ts";
import { envPath, setEnvValue } from "../config/env-write.ts";
import { expandText } from "../config/expand.ts";
import { readText } from "../config/write.ts";
import { parseEnvFile } from "../core/config/env-file.ts";
import { isSecretEnvName, knownEnvNames } from "../core/config/env-names.ts";
import type { Home } from "../core/home.ts";
import type { WebFetch } from "../core/tool/web.ts";
import { buildId } from "../home/build-id.ts";
import { shippedFolder } from "../home/shipped-folder.ts";
import { getAt, splitPath } from "../lib/json/tree-path.ts";
import { which } from "../lib/which.ts";
import { terminalEnv } from "../security/child-env.ts";
import { knownSecrets } from "../security/known-secrets.ts";
import { createRedactor } from "../security/redact.ts";
import type { UrlPolicy } from "../security/url-guard.ts";
import { urlPolicy } from "../security/url-policy.ts";
import { type OwnSkillActions, ownSkillActions } from "../skills/api.ts";
import { type HubActions, hubActions } from "../skills/hub/api.ts";
import { Hub } from "../skills/hub/hub.ts";
import type { ShellOutcome, SkillHost, SkillSettings } from "../skills/skill-host.ts";
import { SkillService } from "../skills/skill-service.ts";
import type { App } from "./app.ts";
import { commandEnvironment } from "./command-environment.ts";
import type { Services } from "./services.ts";

const MAX_SNIPPET_OUTPUT = 64 * 1024;

function expander(services: Services): (text: string) => string {
  const { home, config } = services;
  const userHome = home.env.HOME ?? homedir();
  // An environment without keys, because the model sees the expanded text.
  const env = { ...commandEnvironment(home, config), HERMES_HOME: home.path };
  return (text) => expandText(text, env).replace(/^~(?=$|[/\\])/, userHome);
}

function readSkillSettings(services: Services, expand: (text: string) => string): SkillSettings {
  const { home, config } = services;
  const { skills } = config;
  const byPlatform = skills.platform_disabled as { readonly [platform: string]: readonly string[] | undefined };
  return {
    templateVars: skills.template_vars,
    inlineShell: skills.inline_shell,
    inlineShellSeconds: skills.inline_shell_timeout,
    strictGuard: skills.guard_agent_created,
    externalDirs: (skills.external_dirs as readonly string[])
      .map((entry) => expand(entry.trim()))
      .filter((entry) => entry !== "")
      .map((entry) => (isAbsolute(entry) ? entry : resolve(home.path, entry)))
      .filter((entry) => existsSync(entry)),
    pluginDirs: services.plugins?.skillRoots.filter((path) => existsSync(path)) ?? [],
    disabled: (platform) =>
      new Set((platform === undefined ? undefined : byPlatform[platform]) ?? (skills.disabled as readonly string[])),
    value: (key) => getAt(skills.config, splitPath(key)),
  };
}

/** Runs one snippet in its own process group; its output is redacted. */
async function runSnippet(
  services: Services,
  command: string,
  options: { readonly cwd: string; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<ShellOutcome> {
  const { runToEnd } = await import("../lib/process/run-to-end.ts");
  const container = await services.containers.open({ workspace: options.cwd, credentials: () => [] });
  const contained = await container?.contain({ cwd: options.cwd, folders: [] });
  const changed = Object.entries({ ...commandEnvironment(services.home, services.config), ...contained?.env });
  const env = Object.fromEntries(changed.filter((pair): pair is [string, string] => pair[1] !== undefined));
  const limits = { ...options, env, maxOutput: MAX_SNIPPET_OUTPUT };
  const run = await runToEnd([...(contained?.wrapper ?? []), "bash", "-c", command], limits).catch(() => null);
  await container?.close();
  if (!run) return { kind: "done", stdout: "", stderr: "", code: 127 };
  if (run.aborted) return { kind: "refused", reason: "interrupted" };
  if (run.timedOut) return { kind: "timeout" };
  const redact = (text: string) => services.redactor.redact(text);
  return { kind: "done", stdout: redact(run.stdout), stderr: redact(run.stderr), code: run.code ?? 137 };
}

const MAX_CREDENTIALS = 256 * 1024;

/** Long words in a credential file: JSON values, values of `NAME=value` lines, or single words. URLs are not included. */
function secretsInFile(path: string): string[] {
  const info = statSync(path, { throwIfNoEntry: false });
  if (!info?.isFile() || info.size > MAX_CREDENTIALS) return [];
  const words = readFileSync(path, "utf8").match(/[\w+/=.~-]{20,}/g) ?? [];
  return [...new Set(words)].filter((word) => !word.startsWith("//") && /\d/.test(word) && !/^\d+$/.test(word));
}

function secrets(services: Services): Pick<SkillHost, "variable" | "storeVariable" | "declare" | "protect"> {
  const { home, redactor } = services;
  const blocked = new Set([...knownEnvNames].filter(isSecretEnvName));
  return {
    variable: async (name) => {
      const stored = parseEnvFile(await readText(envPath(home)));
      return (stored.has(name) ? stored.get(name) : home.env[name]) || undefined;
    },
    storeVariable: async (name, value) => {
      redactor.learn(value);
      await setEnvValue(home, name, value);
    },
    declare: (_conversationId, name, value) => {
      if (terminalEnv({ [name]: value }, { blocked, declared: [name] })[name] === undefined) return false;
      redactor.learn(value);
      return true;
    },
    protect: (path) => {
      for (const value of secretsInFile(path)) redactor.learn(value);
    },
  };
}

export function openSkills(services: Services): SkillService {
  const { home, gate } = services;
  // A custom folder is compared file by file, because the build does not identify its content.
  const build = home.env.HERMES_BUNDLED_SKILLS ? undefined : buildId();
  const expand = expander(services);
  return new SkillService({
    home: home.path,
    system: process.platform,
    gate,
    bundled: shippedFolder(home, "skills"),
    bundledBuild: build,
    settings: () => readSkillSettings(services, expand),
    pluginSkills: () => services.plugins?.skills ?? [],
    expand,
    ...secrets(services),
    shell: (command, options) => runSnippet(services, command, options),
    hasCommand: async (name) => /^[\w.+-]+$/.test(name) && which(name, home.env.PATH) !== undefined,
    replace: async (text, request) => {
      const { replaceIn } = await import("../tools/files/replace.ts");
      const change = replaceIn(text, request);
      return change.ok ? { ok: true, text: change.text, count: change.count } : { ok: false, error: change.error };
    },
    notice: (text) => services.notice(text),
  });
}

/** The actions of `hermes skills` on the skills of a home. `openApp` is handed in because it loads this module. */
export function openOwnSkills(home: Home, openApp: () => Promise<App>): OwnSkillActions {
  return ownSkillActions({
    home: home.path,
    bundled: shippedFolder(home, "skills"),
    settings: openSettings(home),
    open: openApp,
  });
}

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
