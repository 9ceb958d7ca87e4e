// The skills of a home with what they need of the other parts: settings, the gate, secrets, a shell, forgiving edits.
import { existsSync, readFileSync, statSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { openSettings } from "../config/api.ts";
import { envPath, setEnvValue } from "../config/env-write.ts";
import { expandText } from "../config/expand.ts";
import { readText } from "../config/write.ts";
import { parseEnvFile } from "../core/config/env-file.ts";
import { isSecretEnvName, knownEnvNames } from "../core/config/env-names.ts";
import type { Home } from "../core/home.ts";
import { shippedFolder } from "../home/shipped-folder.ts";
import { getAt, splitPath } from "../lib/json/tree-path.ts";
import { terminalEnv } from "../security/child-env.ts";
import { type OwnSkillActions, ownSkillActions } from "../skills/api.ts";
import type { ShellOutcome, SkillHost, SkillSettings } from "../skills/skill-host.ts";
import { SkillService } from "../skills/skill-service.ts";
import { commandEnvironment } from "../tools/terminal/open-backend.ts";
import type { App } from "./app.ts";
import { buildId } from "./build-id.ts";
import type { Services } from "./services.ts";

const MAX_SNIPPET_OUTPUT = 64 * 1024;

function expander(services: Services): (text: string) => string {
  const { home, config } = services;
  const userHome = home.env.HOME ?? homedir();
  // Keys stay out: what is expanded here is shown to the model.
  const env = { ...commandEnvironment(home, config), HERMES_HOME: home.path };
  return (text) => expandText(text, env).replace(/^~(?=$|[/\\])/, userHome);
}

function settingsOf(services: Services, expand: (text: string) => string): SkillSettings {
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

/** Runs one snippet in its own process group; what it prints is masked like every other output. */
async function runSnippet(
  services: Services,
  command: string,
  options: { readonly cwd: string; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<ShellOutcome> {
  const { endGroup, spawnGroup, sweepGroup } = await import("../lib/process/spawn-group.ts");
  const env = commandEnvironment(services.home, services.config);
  const child = spawnGroup(command, { cwd: options.cwd, env, stdin: "ignore", separateErrors: true });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      if (output[name].length < MAX_SNIPPET_OUTPUT) output[name] += chunk;
    });
  }
  let stopped: ShellOutcome | undefined;
  const stop = (outcome: ShellOutcome) => {
    stopped ??= outcome;
    void endGroup(child);
  };
  const onAbort = () => stop({ kind: "refused", reason: "interrupted" });
  const timer = setTimeout(() => stop({ kind: "timeout" }), options.timeoutMs);
  options.signal.addEventListener("abort", onAbort, { once: true });
  if (options.signal.aborted) onAbort();
  const code = await new Promise<number>((settle) => {
    child.once("error", () => settle(127));
    child.once("close", (exit) => settle(exit ?? 137));
    child.once("exit", () => sweepGroup(child));
  });
  clearTimeout(timer);
  options.signal.removeEventListener("abort", onAbort);
  const redact = (text: string) => services.redactor.redact(text);
  return stopped ?? { kind: "done", stdout: redact(output.stdout), stderr: redact(output.stderr), code };
}

async function onPath(path: string, name: string): Promise<boolean> {
  if (!/^[\w.+-]+$/.test(name)) return false;
  for (const dir of path.split(delimiter)) {
    const found = await access(join(dir, name), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return true;
  }
  return false;
}

const MAX_CREDENTIALS = 256 * 1024;

/** Long words in a file with credentials: values of JSON, of `NAME=value` lines, or words of their own. Addresses stay readable. */
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
  // Folders of the person's own are compared file by file.
  const build = home.env.HERMES_BUNDLED_SKILLS ? undefined : buildId();
  const expand = expander(services);
  return new SkillService({
    home: home.path,
    system: process.platform,
    gate,
    bundled: shippedFolder(home, "skills"),
    bundledBuild: build,
    settings: () => settingsOf(services, expand),
    pluginSkills: () => services.plugins?.skills ?? [],
    expand,
    ...secrets(services),
    shell: (command, options) => runSnippet(services, command, options),
    hasCommand: (name) => onPath(home.env.PATH ?? "", name),
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
