// Finds files that a script downloads, writes or makes executable and then runs.
import { basename } from "node:path";
import type { CodeLanguage } from "../analyse-code.ts";
import { staticOutput } from "../shell/shell-output.ts";
import { argTexts, type Invocation, operands, programName, type ShellEnvironment } from "../shell/shell-types.ts";
import { codeLanguage, SHELLS, scriptOperand, unwrapInvocation } from "../shell/shell-unwrap.ts";
import { absolutePath } from "../shell/shell-walk.ts";
import { writeTargets } from "./write-targets.ts";

export interface FreshRun {
  readonly how: "downloaded" | "executable" | "written";
  /** The content that was written, when known. */
  readonly text?: string | undefined;
  /** The content when its pieces were written without line ends. */
  readonly concatenated?: string | undefined;
  readonly language: "shell" | CodeLanguage;
  readonly cwd: string;
}

interface Fresh {
  readonly how: FreshRun["how"];
  readonly text?: string | undefined;
  readonly concatenated?: string | undefined;
}

const DOWNLOADS = /^(?:curl|wget|aria2c|http|https|fetch|scp|sftp|ftp|rsync)$/;
const MAX_INNER = 2_000;

/** The commands and the commands inside them, in order. */
function flatten(invocations: readonly Invocation[]): Invocation[] {
  const all: Invocation[] = [];
  const add = (invocation: Invocation, depth: number): void => {
    if (all.length > MAX_INNER) return;
    all.push(invocation);
    if (depth < 6) for (const inner of unwrapInvocation(invocation).commands) add(inner, depth + 1);
  };
  for (const invocation of invocations) add(invocation, 0);
  return all;
}

/** The default file names of a download. */
function remoteNames(invocation: Invocation): string[] {
  const program = programName(invocation);
  const texts = argTexts(invocation);
  const keeps = program === "wget" || texts.some((text) => /^-[A-Za-z]*O|^--remote-name/.test(text));
  const links = texts.filter((text) => /^(?:https?|ftp):\/\//.test(text));
  return keeps ? links.map((link) => basename(link.replace(/[?#].*/, ""))) : [];
}

/** Files that the command creates or makes executable. */
function freshFiles(invocation: Invocation, host: ShellEnvironment): [string, Fresh][] {
  const program = programName(invocation);
  const path = (text: string): string => absolutePath(text, invocation.cwd, host);
  const redirected = invocation.redirects
    .filter(({ operator }) => operator.includes(">"))
    .map(({ target }) => path(target.text));
  const piped = [invocation, ...invocation.upstream].some((command) => DOWNLOADS.test(programName(command)));
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

/** Every quoted string in inline code that could be a file name. */
function literalNames(invocation: Invocation): string[] {
  return [
    ...argTexts(invocation)
      .join("\n")
      .matchAll(/["']([\w./-]{1,80}\.\w{1,4})["']/g),
  ].map(([, name = ""]) => name);
}

function trackCopies(invocation: Invocation, fresh: Map<string, Fresh>, host: ShellEnvironment): void {
  if (!/^(?:mv|cp|ln|install)$/.test(programName(invocation))) return;
  const words = operands(invocation).map((word) => absolutePath(word.text, invocation.cwd, host));
  const target = words[words.length - 1];
  for (const source of words.slice(0, -1)) {
    const made = fresh.get(source);
    if (!made || target === undefined) continue;
    fresh.set(target, made);
    fresh.set(`${target}/${basename(source)}`, made);
  }
}

/** The file that a command runs, and its language. */
function executedFile(invocation: Invocation): { path: string; language: FreshRun["language"] } | undefined {
  const program = programName(invocation);
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

/** Appends later content to earlier content. Content that was overwritten is kept, which only makes the check stricter. */
function mergeContent(before: Fresh | undefined, next: Fresh): Pick<Fresh, "text" | "concatenated"> {
  if (next.how === "executable") return { text: before?.text, concatenated: before?.concatenated };
  if (before?.text === undefined || next.text === undefined) return { text: before ? undefined : next.text };
  return { text: `${before.text}\n${next.text}`, concatenated: `${before.concatenated ?? before.text}${next.text}` };
}

/** Executions of files that earlier commands of the same text created. */
export function findFreshRuns(invocations: readonly Invocation[], host: ShellEnvironment): FreshRun[] {
  const fresh = new Map<string, Fresh>();
  const runs: FreshRun[] = [];
  for (const invocation of flatten(invocations)) {
    const file = executedFile(invocation);
    const made = file && fresh.get(absolutePath(file.path, invocation.cwd, host));
    if (file && made) runs.push({ ...made, language: file.language, cwd: invocation.cwd });
    trackCopies(invocation, fresh, host);
    for (const [path, next] of freshFiles(invocation, host)) {
      const before = fresh.get(path);
      const how = before?.how === "downloaded" ? before.how : next.how;
      fresh.set(path, { how, ...mergeContent(before, next) });
    }
  }
  return runs;
}
