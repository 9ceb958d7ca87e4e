// Commands and programs of guests: nothing of Hermes' home is for them, and what cannot be read to the end is asked.
import { dirname, relative } from "node:path";
import { isBelow, realPathOf } from "../real-path.ts";
import type { Effect } from "./effects.ts";
import { argTexts, type Invocation, programOf, type ShellEnvironment, UNKNOWN } from "./shell/shell-types.ts";
import { absolutePath } from "./shell/shell-walk.ts";

/** Programs that only do what their words say: they start nothing else and read no path that is not given. */
const PLAIN_PROGRAMS = new Set(
  (
    "echo printf pwd date cal whoami id uname hostname uptime ls cat head tail wc sort uniq cut tr nl tac rev fold " +
    "column stat file basename dirname realpath readlink seq sleep true false test [ expr factor md5sum sha1sum " +
    "sha256sum cksum diff cmp comm join paste grep egrep fgrep mkdir touch df free nproc arch cd which du tree"
  ).split(" "),
);

/** Options by which such a program starts another one, reads a list of paths, or evaluates its argument. */
const UNPLAIN_OPTIONS: { readonly [program: string]: RegExp } = {
  sort: /^--/,
  wc: /^--/,
  du: /^--/,
  date: /^--/,
  file: /^-/,
  test: /^-v/,
  "[": /^-v/,
  printf: /^-v/,
  // Follows links on its way.
  grep: /^-[a-zA-Z]*R|^--de/,
  egrep: /^-[a-zA-Z]*R|^--de/,
  fgrep: /^-[a-zA-Z]*R|^--de/,
  tree: /^--from/,
};
/** Options by which it goes through folders. */
const RECURSIVE_OPTION = /^-(?:[a-zA-Z]*[rR]|-[rd])|^recurse$/;
const RECURSIVE_PROGRAMS = new Set(["du", "tree"]);

/** Expansions, substitutions, subshells, escapes and tests can hide a word or evaluate one. */
const UNPLAIN_TEXT = /[$`(){}\\!]|\[\[|<<|\r|[^\t\n -~\u00a0-\uffff]/;

/** Files that people sent, and large results of tools: a conversation gets their names, which cannot be guessed. */
const OPEN_FILES = /^cache\/(?:(?:images|audio|videos|documents)\/[^/]+|tool-results\/[^/]+\/[^/]+)$/;

/** Such a file, spelled out in a text; where its path really leads is judged with the words. */
const OPEN_MENTION = /[^\s'"`;|&<>()]*\/cache\/(?:(?:images|audio|videos|documents)|tool-results\/[\w-]+)\/[\w.-]+/g;

interface Homes {
  readonly hermesHome: string;
  /** The real path of the home. */
  readonly realHome: string;
}

export type GuestWorld = ShellEnvironment & Homes;

/** In the home of Hermes, and none of the files there that a conversation is given. */
export function isForbidden(path: string, { hermesHome, realHome }: Homes): boolean {
  return [hermesHome, realHome].some((home) => isBelow(home, path) && !OPEN_FILES.test(relative(home, path)));
}

/** A folder that contains the home: who searches it searches the home. */
export function isAbove(path: string, { hermesHome, realHome }: Homes): boolean {
  return [hermesHome, realHome].some((home) => isBelow(path, home));
}

function homeEffect(target: string): Effect {
  const reason = "reaches into the home of Hermes, which is the owner's";
  return { rule: "guest_home", category: "guest", level: "hardline", reason, targets: [target] };
}

function unknownEffect(): Effect {
  const reason = "is a guest's, and what it can reach cannot be told from its words";
  return { rule: "guest_program", category: "guest", level: "dangerous", reason, targets: [] };
}

/** The words of an invocation that may be paths, also behind `=`, `@`, `:` and one-letter options. */
function pathWords({ name, args, redirects }: Invocation): string[] {
  const words = [name, ...args, ...redirects.map(({ target }) => target)].map(({ text }) => text);
  return words.flatMap((word) => [
    word,
    ...word.split(/[=@:,]/).slice(1),
    ...(/^-\w./.test(word) ? [word.slice(2)] : []),
  ]);
}

/** Does the text spell out a place in the home? For programs and for words inside words. */
function mentions(given: string, host: GuestWorld): boolean {
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

/** The folder above the first pattern of a word. */
function folderOfPattern(path: string): string {
  const at = path.search(/[*?[]/);
  return at < 0 ? path : dirname(`${path.slice(0, at)}x`);
}

/** `known` when every place that the invocation reaches can be told, and none of them is Hermes' home. */
async function reach(invocation: Invocation, host: GuestWorld): Promise<"known" | "unknown" | "home"> {
  let known = !invocation.name.dynamic && invocation.assigned.length === 0;
  const walks =
    RECURSIVE_PROGRAMS.has(programOf(invocation)) || argTexts(invocation).some((text) => RECURSIVE_OPTION.test(text));
  for (const word of [".", ...pathWords(invocation)]) {
    if (word === "") continue;
    if (word.includes(UNKNOWN) || /^~[^/]/.test(word)) known = false;
    const path = absolutePath(word, invocation.cwd, host);
    const folder = folderOfPattern(path);
    for (const each of [path, folder, await realPathOf(folder, "/")]) if (isForbidden(each, host)) return "home";
    const above = isAbove(folder, host) || isAbove(await realPathOf(folder, "/"), host);
    // A pattern or a walk that starts above the home can come to it; a name alone cannot.
    if (above && (walks || folder !== path)) known = false;
  }
  return known ? "known" : "unknown";
}

function isPlain(invocation: Invocation): boolean {
  const { text: program } = invocation.name;
  if (!PLAIN_PROGRAMS.has(program)) return false;
  const unplain = Object.hasOwn(UNPLAIN_OPTIONS, program) ? UNPLAIN_OPTIONS[program] : undefined;
  return !unplain || !argTexts(invocation).some((each) => unplain.test(each));
}

export interface GuestCommand {
  readonly text: string;
  readonly cwd: string;
  /** Everything that it would run, also inside other commands. */
  readonly invocations: readonly Invocation[];
  /** The grammar read all of it, and it sets no variables. */
  readonly readable: boolean;
}

/** What else a guest's command does, beside what the rules found. */
export async function guestCommandEffects(command: GuestCommand, host: GuestWorld): Promise<Effect[]> {
  if (isForbidden(await realPathOf(command.cwd, "/"), host) || isForbidden(command.cwd, host))
    return [homeEffect(command.cwd)];
  if (mentions(command.text, host)) return [homeEffect(host.hermesHome)];
  let known = command.readable && !UNPLAIN_TEXT.test(command.text);
  for (const invocation of command.invocations) {
    const place = await reach(invocation, host);
    if (place === "home") return [homeEffect(host.hermesHome)];
    if (place === "unknown" || !isPlain(invocation)) known = false;
  }
  return known ? [] : [unknownEffect()];
}

/** A program can read anything: the owner decides, unless it names the home. */
export async function guestProgramEffects(code: string, cwd: string, host: GuestWorld): Promise<Effect[]> {
  const home = isForbidden(await realPathOf(cwd, "/"), host) || mentions(code, host);
  return [home ? homeEffect(host.hermesHome) : unknownEffect()];
}
