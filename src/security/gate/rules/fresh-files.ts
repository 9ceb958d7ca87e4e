// Files that a script downloads, writes or makes executable, and then runs.
import { basename } from "node:path";
import type { CodeLanguage } from "../analyse-code.ts";
import { staticOutput } from "../shell/shell-output.ts";
import { argTexts, type Invocation, operands, programOf, type ShellEnvironment } from "../shell/shell-types.ts";
import { codeLanguage, innerOf, SHELLS, scriptOperand } from "../shell/shell-unwrap.ts";
import { absolutePath } from "../shell/shell-walk.ts";
import { writeTargets } from "./write-targets.ts";

export interface FreshRun {
  readonly how: "downloaded" | "executable" | "written";
  /** What was written, when it is known. */
  readonly text?: string | undefined;
  /** The same when pieces were written without line ends. */
  readonly glued?: string | undefined;
  readonly language: "shell" | CodeLanguage;
  readonly cwd: string;
}

interface Fresh {
  readonly how: FreshRun["how"];
  readonly text?: string | undefined;
  readonly glued?: string | undefined;
}

const DOWNLOADS = /^(?:curl|wget|aria2c|http|https|fetch|scp|sftp|ftp|rsync)$/;
const MAX_INNER = 2_000;

/** The commands with those that they wrap, in order. */
function flattened(invocations: readonly Invocation[]): Invocation[] {
  const all: Invocation[] = [];
  const add = (invocation: Invocation, depth: number): void => {
    if (all.length > MAX_INNER) return;
    all.push(invocation);
    if (depth < 6) for (const inner of innerOf(invocation).commands) add(inner, depth + 1);
  };
  for (const invocation of invocations) add(invocation, 0);
  return all;
}

/** The name under which a download is kept when none is given. */
function remoteNames(invocation: Invocation): string[] {
  const program = programOf(invocation);
  const texts = argTexts(invocation);
  const keeps = program === "wget" || texts.some((text) => /^-[A-Za-z]*O|^--remote-name/.test(text));
  const links = texts.filter((text) => /^(?:https?|ftp):\/\//.test(text));
  return keeps ? links.map((link) => basename(link.replace(/[?#].*/, ""))) : [];
}

/** Files that the command brings into being or makes runnable. */
function freshFiles(invocation: Invocation, host: ShellEnvironment): [string, Fresh][] {
  const program = programOf(invocation);
  const path = (text: string): string => absolutePath(text, invocation.cwd, host);
  const redirected = invocation.redirects
    .filter(({ operator }) => operator.includes(">"))
    .map(({ target }) => path(target.text));
  const piped = [invocation, ...invocation.upstream].some((command) => DOWNLOADS.test(programOf(command)));
  const written = /^(?:cp|mv|ln|install|touch|truncate|sed|perl|chmod)$/.test(program)
    ? []
    : writeTargets(invocation, host);
  if (piped)
    return [...redirected, ...written, ...remoteNames(invocation).map(path)].map((at) => [at, { how: "downloaded" }]);
  if (
    program === "chmod" &&
    /\+x|[1357]\d\d$/.test(argTexts(invocation).find((text) => !/^-[A-Za-z-]+$/.test(text)) ?? "")
  )
    return invocation.args.slice(1).map((word) => [path(word.text), { how: "executable" }]);
  const made = codeLanguage(program) ? literalNames(invocation).map(path) : [];
  const targets = [...new Set([...redirected, ...written])];
  const fed = program === "tee" ? invocation.stdin?.text : undefined;
  const text = fed ?? staticOutput([...invocation.upstream, invocation], invocation.cwd);
  return [
    ...targets.map((target): [string, Fresh] => [target, { how: "written", text }]),
    ...made.map((name): [string, Fresh] => [name, { how: "written" }]),
  ];
}

/** Every name in quotes inside of inline code that could be a file. */
function literalNames(invocation: Invocation): string[] {
  return [
    ...argTexts(invocation)
      .join("\n")
      .matchAll(/["']([\w./-]{1,80}\.\w{1,4})["']/g),
  ].map(([, name = ""]) => name);
}

function copied(invocation: Invocation, fresh: Map<string, Fresh>, host: ShellEnvironment): void {
  if (!/^(?:mv|cp|ln|install)$/.test(programOf(invocation))) return;
  const words = operands(invocation).map((word) => absolutePath(word.text, invocation.cwd, host));
  const target = words[words.length - 1];
  for (const source of words.slice(0, -1)) {
    const made = fresh.get(source);
    if (!made || target === undefined) continue;
    fresh.set(target, made);
    fresh.set(`${target}/${basename(source)}`, made);
  }
}

/** The file that a command runs as a program, with the language in which it is read. */
function opened(invocation: Invocation): { path: string; language: FreshRun["language"] } | undefined {
  const program = programOf(invocation);
  const fed = invocation.redirects.find(({ operator }) => operator === "<")?.target.text;
  const first = operands(invocation)[0]?.text;
  if (SHELLS.has(program)) {
    const path = scriptOperand(invocation)?.text ?? fed;
    return path === undefined ? undefined : { path, language: "shell" };
  }
  if (program === "source" || program === ".")
    return first === undefined ? undefined : { path: first, language: "shell" };
  const language = codeLanguage(program);
  if (language) return (first ?? fed) === undefined ? undefined : { path: first ?? fed ?? "", language };
  if (/^[gm]?awk$|^make$|^gmake$/.test(program)) {
    const texts = argTexts(invocation);
    const at = texts.findIndex((text) => /^-[A-Za-z]*f$/.test(text));
    const path = at === -1 ? (program.endsWith("make") ? "Makefile" : undefined) : texts[at + 1];
    return path === undefined ? undefined : { path, language: program.endsWith("awk") ? "awk" : "shell" };
  }
  return invocation.name.text.includes("/") ? { path: invocation.name.text, language: "shell" } : undefined;
}

/** Later pieces are put behind earlier ones: whether they replace them does not matter for what may run. */
function contentOf(before: Fresh | undefined, next: Fresh): Pick<Fresh, "text" | "glued"> {
  if (next.how === "executable") return { text: before?.text, glued: before?.glued };
  if (before?.text === undefined || next.text === undefined) return { text: before ? undefined : next.text };
  return { text: `${before.text}\n${next.text}`, glued: `${before.glued ?? before.text}${next.text}` };
}

/** Runs of files that came into being earlier in the same text. */
export function freshRuns(invocations: readonly Invocation[], host: ShellEnvironment): FreshRun[] {
  const fresh = new Map<string, Fresh>();
  const runs: FreshRun[] = [];
  for (const invocation of flattened(invocations)) {
    const file = opened(invocation);
    const made = file && fresh.get(absolutePath(file.path, invocation.cwd, host));
    if (file && made) runs.push({ ...made, language: file.language, cwd: invocation.cwd });
    copied(invocation, fresh, host);
    for (const [path, next] of freshFiles(invocation, host)) {
      const before = fresh.get(path);
      const how = before?.how === "downloaded" ? before.how : next.how;
      fresh.set(path, { how, ...contentOf(before, next) });
    }
  }
  return runs;
}
