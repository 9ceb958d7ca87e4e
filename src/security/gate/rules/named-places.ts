// Which protected places a command names: in any word, after expansion, relative to where it runs, through links.
import { realpathSync, statSync } from "node:fs";
import {
  homeWrite,
  type Places,
  placesOf,
  secretFiles,
  secretPlace,
  startupPlace,
  within,
} from "../../protected-places.ts";
import { comparable } from "../../real-path.ts";
import { argTexts, type Invocation, type ShellEnvironment, UNKNOWN } from "../shell/shell-types.ts";
import { absolutePath } from "../shell/shell-walk.ts";

export interface NamedPlaces {
  readonly secrets: readonly string[];
  readonly home: readonly string[];
  readonly startup: readonly string[];
}

const MAX_PIECES = 400;
const MAX_BASES = 6;
const SAMPLES = [".ssh", ".aws", ".gnupg", ".azure", ".hermes", ".bashrc", ".profile", ".zshrc", ".bash_profile"];
const HOME_SAMPLES = ["config.yaml", "SOUL.md", "memories", "memories/MEMORY.md", "state.db", "cron/jobs.json"];

/** git runs what lies there. */
const GIT_HOOKS = /\/\.git\/(?:hooks(?:\/|$)|config$)/i;

/** A word and the paths inside it: `f=@key`, `s r /path`, `open('/path')`. */
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
    // Not a pattern after all.
    return new RegExp(`^${part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`, "i");
  }
}

/** Protected paths that a pattern can stand for. */
function matchedByGlob(path: string, places: Places): string[] {
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

function realOf(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    // It does not exist (yet); its folder may be a link.
    const cut = path.lastIndexOf("/");
    try {
      return cut > 0 ? [`${realpathSync(path.slice(0, cut))}${path.slice(cut)}`] : [];
    } catch {
      return [];
    }
  }
}

function linkedSecret(path: string, places: Places): boolean {
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
    // Missing, or a name below a file.
    return false;
  }
}

/** Every absolute path that the words may mean. */
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
    // `-C~/.ssh`, `-o/path`: the value stands right behind the letter.
    ...all.filter((text) => /^-\w[/~]/.test(text)).map((text) => absolute(text.slice(2), invocation.cwd)),
  ].filter((path) => !path.startsWith(UNKNOWN));
}

const knownPlaces = new WeakMap<ShellEnvironment, Places>();

/** The protected places of one analysis: looked up once, however many commands it has. */
export function placesFor(host: ShellEnvironment): Places {
  const known = knownPlaces.get(host) ?? placesOf(host);
  knownPlaces.set(host, known);
  return known;
}

/** The protected places that these words name. */
export function namedPlaces(texts: readonly string[], invocation: Invocation, host: ShellEnvironment): NamedPlaces {
  const places = placesFor(host);
  const found = { secrets: new Set<string>(), home: new Set<string>(), startup: new Set<string>() };
  const judge = (path: string): void => {
    if (secretPlace(path, places) !== null) found.secrets.add(path);
    if (homeWrite(path, places, host.workspace) !== null) {
      found.home.add(path);
      if (path.includes(UNKNOWN) && !(within(places.hermesHomes, path) ?? "").includes("/")) found.secrets.add(path);
    }
    if (startupPlace(path, places) !== null || GIT_HOOKS.test(path)) found.startup.add(path);
  };
  for (const path of new Set(candidates(texts, invocation, host))) {
    judge(path);
    if (/[*?[]/.test(path)) for (const sample of matchedByGlob(path, places)) judge(sample);
    if (path.includes(UNKNOWN) || path.length > 1_000) continue;
    for (const real of realOf(path)) {
      if (comparable(real) !== comparable(path)) judge(real);
      if (linkedSecret(real, places)) found.secrets.add(path);
    }
  }
  return { secrets: [...found.secrets], home: [...found.home], startup: [...found.startup] };
}

/** Files that redirections read or write; copies of descriptors such as `>&2` are none. */
export function redirectTexts(invocation: Invocation, reading: boolean): string[] {
  return invocation.redirects.flatMap(({ operator, target }) => {
    if (operator.endsWith("&") && /^(?:\d+|-)$/.test(target.text)) return [];
    return operator === "<>" || operator.startsWith("<") === reading ? [target.text] : [];
  });
}

const argumentsNamed = new WeakMap<Invocation, NamedPlaces>();

/** The places that the arguments name, without redirections. */
export function argumentPlaces(invocation: Invocation, host: ShellEnvironment): NamedPlaces {
  const known = argumentsNamed.get(invocation) ?? namedPlaces(argTexts(invocation), invocation, host);
  argumentsNamed.set(invocation, known);
  return known;
}
