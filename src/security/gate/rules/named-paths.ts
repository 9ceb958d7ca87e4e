// Finds the protected paths that a command names: in any word, after expansion, relative to its folder, through links.
import { realpathSync, statSync } from "node:fs";
import {
  classifyHomeWrite,
  classifySecretPath,
  classifyStartupPath,
  findProtectedRoots,
  type ProtectedRoots,
  relativeTo,
  secretFiles,
} from "../../protected-paths.ts";
import { normalizePath } from "../../real-path.ts";
import { argTexts, type Invocation, type ShellEnvironment, UNKNOWN } from "../shell/shell-types.ts";
import { absolutePath } from "../shell/shell-walk.ts";

export interface ProtectedPaths {
  readonly secrets: readonly string[];
  readonly home: readonly string[];
  readonly startup: readonly string[];
}

const MAX_PIECES = 400;
const MAX_BASES = 6;
const SAMPLES = [".ssh", ".aws", ".gnupg", ".azure", ".hermes", ".bashrc", ".profile", ".zshrc", ".bash_profile"];
const HOME_SAMPLES = ["config.yaml", "SOUL.md", "memories", "memories/MEMORY.md", "state.db", "cron/jobs.json"];

/** git runs the files there. */
const GIT_HOOKS = /\/\.git\/(?:hooks(?:\/|$)|config$)/i;

/** A word and the possible paths inside it: `f=@key`, `s r /path`, `open('/path')`. */
function pieces(text: string): string[] {
  if (text.length > 20_000) return [text.slice(0, 20_000)];
  const parts = text.split(/[\s=@:,<>'"`;|(){}&]+/).filter((part) => part !== "" && part !== ".");
  return [...new Set([text, ...parts])];
}

function globToRegExp(part: string): RegExp {
  const source = [...part]
    .map((char) =>
      char === "*"
        ? ".*"
        : char === "?"
          ? "."
          : char === UNKNOWN
            ? ".*"
            : /[[\]!^-]/.test(char)
              ? char
              : char.replace(/[\\.+${}()|/]/g, "\\$&"),
    )
    .join("")
    .replaceAll("[!", "[^");
  const noDot = /^[*?[]/.test(part) ? "(?!\\.)" : "";
  try {
    return new RegExp(`^${noDot}${source}$`, "i");
  } catch {
    // Not a valid pattern: match it literally.
    return new RegExp(`^${part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`, "i");
  }
}

/** Protected paths that a glob pattern can match. */
function matchedByGlob(path: string, places: ProtectedRoots): string[] {
  const wanted = path.split("/").map(globToRegExp);
  const samples = [
    ...secretFiles(places),
    ...places.userHomes.flatMap((home) => SAMPLES.map((name) => `${home}/${name}`)),
    ...places.hermesHomes.flatMap((home) => HOME_SAMPLES.map((name) => `${home}/${name}`)),
  ];
  return samples.filter((sample) => {
    const parts = sample.split("/");
    return parts.length === wanted.length && wanted.every((pattern, at) => pattern.test(parts[at] ?? ""));
  });
}

function tryRealPath(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    // The file does not exist (yet); its folder may be a link.
    const cut = path.lastIndexOf("/");
    try {
      return cut > 0 ? [`${realpathSync(path.slice(0, cut))}${path.slice(cut)}`] : [];
    } catch {
      return [];
    }
  }
}

function linkedSecret(path: string, places: ProtectedRoots): boolean {
  try {
    const info = statSync(path);
    if (info.nlink < 2 || !info.isFile()) return false;
    return secretFiles(places).some((file) => {
      const other = statSync(file, { throwIfNoEntry: false });
      return other?.ino === info.ino && other.dev === info.dev;
    });
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // It does not exist, or a parent is a file.
    return false;
  }
}

/** Every absolute path that the words may refer to. */
function candidates(texts: readonly string[], invocation: Invocation, host: ShellEnvironment): string[] {
  const all = texts.flatMap(pieces).slice(0, MAX_PIECES);
  const clean = (text: string) => text.replace(/^\/proc\/(?:self|thread-self|\d+)\/cwd(?=\/|$)/, invocation.cwd);
  const absolute = (text: string, base: string) => absolutePath(clean(text), base, host);
  const isRooted = (text: string) => /^[/~]/.test(text);
  const bases = [
    ...new Set(all.filter((text) => isRooted(text) && text.length < 300).map((text) => absolute(text, invocation.cwd))),
  ];
  const folders = bases.filter(isFolder).slice(0, MAX_BASES);
  return [
    ...all.filter((text) => !text.startsWith("-")).map((text) => absolute(text, invocation.cwd)),
    ...all
      .filter((text) => !isRooted(text) && !text.startsWith("-"))
      .flatMap((text) => folders.map((folder) => absolute(text, folder))),
    // `-C~/.ssh`, `-o/path`: the value follows the option letter directly.
    ...all.filter((text) => /^-\w[/~]/.test(text)).map((text) => absolute(text.slice(2), invocation.cwd)),
  ].filter((path) => !path.startsWith(UNKNOWN));
}

const knownRoots = new WeakMap<ShellEnvironment, ProtectedRoots>();

/** The protected paths for one analysis, computed once. */
export function cachedRoots(host: ShellEnvironment): ProtectedRoots {
  const known = knownRoots.get(host) ?? findProtectedRoots(host);
  knownRoots.set(host, known);
  return known;
}

/** The protected paths that these words name. */
export function findProtectedPaths(
  texts: readonly string[],
  invocation: Invocation,
  host: ShellEnvironment,
): ProtectedPaths {
  const places = cachedRoots(host);
  const found = { secrets: new Set<string>(), home: new Set<string>(), startup: new Set<string>() };
  const classify = (path: string): void => {
    if (classifySecretPath(path, places) !== null) found.secrets.add(path);
    if (classifyHomeWrite(path, places, host.workspace) !== null) {
      found.home.add(path);
      if (path.includes(UNKNOWN) && !(relativeTo(places.hermesHomes, path) ?? "").includes("/"))
        found.secrets.add(path);
    }
    if (classifyStartupPath(path, places) !== null || GIT_HOOKS.test(path)) found.startup.add(path);
  };
  for (const path of new Set(candidates(texts, invocation, host))) {
    classify(path);
    if (/[*?[]/.test(path)) for (const sample of matchedByGlob(path, places)) classify(sample);
    if (path.includes(UNKNOWN) || path.length > 1_000) continue;
    for (const real of tryRealPath(path)) {
      if (normalizePath(real) !== normalizePath(path)) classify(real);
      if (linkedSecret(real, places)) found.secrets.add(path);
    }
  }
  return { secrets: [...found.secrets], home: [...found.home], startup: [...found.startup] };
}

/** Files that redirections read or write, without duplicated descriptors such as `>&2`. */
export function redirectTexts(invocation: Invocation, reading: boolean): string[] {
  return invocation.redirects.flatMap(({ operator, target }) => {
    if (operator.endsWith("&") && /^(?:\d+|-)$/.test(target.text)) return [];
    return operator === "<>" || operator.startsWith("<") === reading ? [target.text] : [];
  });
}

const argumentsNamed = new WeakMap<Invocation, ProtectedPaths>();

/** The protected paths that the arguments name, without redirections. */
export function protectedArguments(invocation: Invocation, host: ShellEnvironment): ProtectedPaths {
  const known = argumentsNamed.get(invocation) ?? findProtectedPaths(argTexts(invocation), invocation, host);
  argumentsNamed.set(invocation, known);
  return known;
}
