// Commands and programs of guests: Hermes' home is off limits, and anything that cannot be fully analysed needs approval.
import { dirname, relative } from "node:path";
import { isBelow, resolveRealPath } from "../real-path.ts";
import type { Effect } from "./effects.ts";
import { argTexts, type Invocation, programName, type ShellEnvironment, UNKNOWN } from "./shell/shell-types.ts";
import { absolutePath } from "./shell/shell-walk.ts";

/** Programs that start nothing else and read no path except those in their arguments. */
const PLAIN_PROGRAMS = new Set(
  (
    "echo printf pwd date cal whoami id uname hostname uptime ls cat head tail wc sort uniq cut tr nl tac rev fold " +
    "column stat file basename dirname realpath readlink seq sleep true false test [ expr factor md5sum sha1sum " +
    "sha256sum cksum diff cmp comm join paste grep egrep fgrep mkdir touch df free nproc arch cd which du tree"
  ).split(" "),
);

/** Options that make such a program start another one, read a list of paths, or evaluate its argument. */
const UNCLEAR_OPTIONS: { readonly [program: string]: RegExp } = {
  sort: /^--/,
  wc: /^--/,
  du: /^--/,
  date: /^--/,
  file: /^-/,
  test: /^-v/,
  "[": /^-v/,
  printf: /^-v/,
  // Follows symbolic links.
  grep: /^-[a-zA-Z]*R|^--de/,
  egrep: /^-[a-zA-Z]*R|^--de/,
  fgrep: /^-[a-zA-Z]*R|^--de/,
  tree: /^--from/,
};
/** Options that make it descend into folders. */
const RECURSIVE_OPTION = /^-(?:[a-zA-Z]*[rR]|-[rd])|^recurse$/;
const RECURSIVE_PROGRAMS = new Set(["du", "tree"]);

/** Expansions, substitutions, subshells, escapes and tests, which can hide or evaluate a word. */
const UNCLEAR_TEXT = /[$`(){}\\!]|\[\[|<<|\r|[^\t\n -~\u00a0-\uffff]/;

/** Files that users sent and large tool results. Their names are random and known only to the conversation. */
const OPEN_FILES = /^cache\/(?:(?:images|audio|videos|documents)\/[^/]+|tool-results\/[^/]+\/[^/]+)$/;

/** The path of such a file inside a text. Symbolic links are resolved when the words are checked. */
const OPEN_MENTION = /[^\s'"`;|&<>()]*\/cache\/(?:(?:images|audio|videos|documents)|tool-results\/[\w-]+)\/[\w.-]+/g;

interface Homes {
  readonly hermesHome: string;
  /** The real path of the home. */
  readonly realHome: string;
  /** The user's own folder inside the home, as given and resolved. */
  readonly ownFolders?: readonly string[] | undefined;
}

export type GuestEnvironment = ShellEnvironment & Homes;

/** True for a path in Hermes' home, except the files that a conversation is given. */
export function isForbidden(path: string, { hermesHome, realHome, ownFolders = [] }: Homes): boolean {
  if (ownFolders.some((folder) => isBelow(folder, path))) return false;
  return [hermesHome, realHome].some((home) => isBelow(home, path) && !OPEN_FILES.test(relative(home, path)));
}

/** True for a folder that contains the home: a recursive search there reads the home too. */
export function isAbove(path: string, { hermesHome, realHome }: Homes): boolean {
  return [hermesHome, realHome].some((home) => isBelow(path, home));
}

function homeEffect(target: string): Effect {
  const reason = "accesses the home of Hermes, which belongs to the owner";
  return { rule: "guest_home", category: "guest", level: "hardline", reason, targets: [target] };
}

function unknownEffect(): Effect {
  const reason = "was requested by a guest, and the files that it can access are unknown";
  return { rule: "guest_program", category: "guest", level: "dangerous", reason, targets: [] };
}

/** The words of an invocation that may be paths, also after `=`, `@`, `:` and one-letter options. */
function pathWords({ name, args, redirects }: Invocation): string[] {
  const words = [name, ...args, ...redirects.map(({ target }) => target)].map(({ text }) => text);
  return words.flatMap((word) => [
    word,
    ...word.split(/[=@:,]/).slice(1),
    ...(/^-\w./.test(word) ? [word.slice(2)] : []),
  ]);
}

/** True when the text contains a path in the home. Used for programs and for nested words. */
function mentions(given: string, host: GuestEnvironment): boolean {
  const text = given.replaceAll(OPEN_MENTION, " ");
  const spelled = text.toLowerCase();
  const names = [host.hermesHome, host.realHome].map((home) => home.toLowerCase());
  if (/\bhermes_home\b|(?:^|[/~'"\s=])\.hermes(?:[/'"\s]|$)/.test(spelled)) return true;
  return names.some((name) => {
    const at = spelled.indexOf(name);
    if (at < 0) return false;
    const path = /^[^\s'"`;|&<>()]*/.exec(text.slice(at))?.[0] ?? "";
    return isForbidden(path, host);
  });
}

/** The folder before the first glob pattern of a path. */
function folderOfPattern(path: string): string {
  const at = path.search(/[*?[]/);
  return at < 0 ? path : dirname(`${path.slice(0, at)}x`);
}

/** `known` when every path that the invocation uses is known and none is in Hermes' home. */
async function reach(invocation: Invocation, host: GuestEnvironment): Promise<"known" | "unknown" | "home"> {
  let known = !invocation.name.dynamic && invocation.assigned.length === 0;
  const walks =
    RECURSIVE_PROGRAMS.has(programName(invocation)) || argTexts(invocation).some((text) => RECURSIVE_OPTION.test(text));
  for (const word of [".", ...pathWords(invocation)]) {
    if (word === "") continue;
    if (word.includes(UNKNOWN) || /^~[^/]/.test(word)) known = false;
    const path = absolutePath(word, invocation.cwd, host);
    const folder = folderOfPattern(path);
    for (const each of [path, folder, await resolveRealPath(folder, "/")]) if (isForbidden(each, host)) return "home";
    const above = isAbove(folder, host) || isAbove(await resolveRealPath(folder, "/"), host);
    // A glob or a recursive search that starts above the home can reach it.
    if (above && (walks || folder !== path)) known = false;
  }
  return known ? "known" : "unknown";
}

function isPlain(invocation: Invocation): boolean {
  const { text: program } = invocation.name;
  if (!PLAIN_PROGRAMS.has(program)) return false;
  const unclear = Object.hasOwn(UNCLEAR_OPTIONS, program) ? UNCLEAR_OPTIONS[program] : undefined;
  return !unclear || !argTexts(invocation).some((each) => unclear.test(each));
}

export interface GuestCommand {
  readonly text: string;
  readonly cwd: string;
  /** Every command that would run, nested ones included. */
  readonly invocations: readonly Invocation[];
  /** True when the whole text was parsed and sets no variables. */
  readonly readable: boolean;
}

/** Additional effects of a guest's command. */
export async function guestCommandEffects(command: GuestCommand, host: GuestEnvironment): Promise<Effect[]> {
  if (isForbidden(await resolveRealPath(command.cwd, "/"), host) || isForbidden(command.cwd, host))
    return [homeEffect(command.cwd)];
  if (mentions(command.text, host)) return [homeEffect(host.hermesHome)];
  let known = command.readable && !UNCLEAR_TEXT.test(command.text);
  for (const invocation of command.invocations) {
    const place = await reach(invocation, host);
    if (place === "home") return [homeEffect(host.hermesHome)];
    if (place === "unknown" || !isPlain(invocation)) known = false;
  }
  return known ? [] : [unknownEffect()];
}

/** Any program may read files, so it needs the owner's approval; one that names the home is blocked. */
export async function guestProgramEffects(code: string, cwd: string, host: GuestEnvironment): Promise<Effect[]> {
  const home = isForbidden(await resolveRealPath(cwd, "/"), host) || mentions(code, host);
  return [home ? homeEffect(host.hermesHome) : unknownEffect()];
}
