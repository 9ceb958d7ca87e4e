// Detects commands whose output may contain text from outside the workspace. Unknown programs are assumed to do so.
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { isVendored } from "../../../core/project-trust.ts";
import { truncate } from "../../../lib/text/truncate.ts";
import { isBelow } from "../../real-path.ts";
import {
  argTexts,
  type Invocation,
  operands,
  programName,
  type ShellEnvironment,
  UNKNOWN,
} from "../shell/shell-types.ts";
import { absolutePath } from "../shell/shell-walk.ts";
import {
  BUILD_PROGRAMS,
  FETCHING_NAME,
  FILE_PROGRAMS,
  GIT_NETWORK,
  isProjectTool,
  LOCAL_SUBCOMMANDS,
  STATE_PROGRAMS,
} from "./local-programs.ts";
import { untrustedCodeSource } from "./outside-code.ts";

const MAX_SCRIPT_BYTES = 512_000;
const SHELLS = /^(?:ba|z|da|k|a)?sh$/;
const INTERPRETERS = /^(?:python[\d.]*|pypy\d?|node|nodejs|tsx|ts-node|ruby|perl|php|lua|rscript|osascript)$/;
/** Modules that `python -m` runs locally. */
const PYTHON_MODULES =
  /^(?:pytest|unittest|json\.tool|venv|compileall|py_compile|mypy|black|ruff|isort|flake8|pylint|coverage|doctest|timeit|cProfile|pdb|http\.server|build|tabnanny|tokenize|ast|dis|zipfile|tarfile|sphinx|pyflakes)$/;
const RUNNERS = /^(?:npx|bunx|pnpx|uvx|pipx)$/;
const ONLY_VERSION = /^(?:--?version|-v|-V|--help|-h|version|help)$/;

/** True when the invocation contains other commands, which are checked on their own. */
export interface OutsideContext {
  readonly hasInner: boolean;
  /** Files that earlier commands of the same script wrote; their content is checked with those commands. */
  readonly written: ReadonlySet<string>;
}

function commandLabel(invocation: Invocation): string {
  const text = [invocation.name, ...invocation.args].map((word) => word.text.replaceAll(UNKNOWN, "…")).join(" ");
  return truncate(text, 80);
}

/** The first existing path among the words that is outside the workspace. */
function outsidePath(texts: readonly string[], invocation: Invocation, host: ShellEnvironment, about: OutsideContext) {
  const root = host.workspace ?? host.cwd;
  for (const text of texts) {
    if (text === "" || text.startsWith(UNKNOWN) || text.length > 1_000) continue;
    const value = text.startsWith("-") ? text.slice(text.indexOf("=") + 1) : text;
    if (value.startsWith("-")) continue;
    const whole = absolutePath(value, invocation.cwd, host);
    if (/^\/dev\//.test(whole) || about.written.has(whole)) continue;
    if (isBelow(root, whole) && resolvesInside(root, whole) && !isVendored(whole.slice(root.length))) continue;
    const fixed = whole.split(/[*?[]/, 1)[0] ?? whole;
    const path = fixed === whole ? whole : fixed.slice(0, fixed.lastIndexOf("/") + 1);
    if (path !== "/" || whole === "/") if (existsSync(path)) return whole;
  }
  return undefined;
}

/** Symbolic links inside the workspace may point outside. */
function resolvesInside(root: string, path: string): boolean {
  try {
    return isBelow(realpathSync(root), realpathSync(path));
  } catch {
    // The file does not exist: nothing is read.
    return true;
  }
}

function gitUsesNetwork(invocation: Invocation): boolean {
  const texts = argTexts(invocation);
  let at = 0;
  while (at < texts.length && texts[at]?.startsWith("-"))
    at += /^-[cC]$|^--(?:git-dir|work-tree|namespace)$/.test(texts[at] ?? "") ? 2 : 1;
  const sub = texts[at] ?? "";
  if (sub === "submodule") return !/^(?:status|summary|foreach)?$/.test(texts[at + 1] ?? "");
  if (sub === "remote") return /^(?:update|show|prune)$/.test(texts[at + 1] ?? "");
  if (sub === "archive") return texts.some((text) => text.startsWith("--remote"));
  return sub.includes(UNKNOWN) || GIT_NETWORK.has(sub);
}

function subcommandUsesNetwork(program: string, invocation: Invocation): boolean {
  const words = argTexts(invocation);
  const sub = words.find((text) => !text.startsWith("-")) ?? words[0] ?? "";
  if (!LOCAL_SUBCOMMANDS[program]?.has(sub))
    return !(
      program === "yarn" &&
      !FETCHING_NAME.test(sub) &&
      sub !== "add" &&
      sub !== "dlx" &&
      sub !== "create" &&
      sub !== ""
    );
  const rest = words.slice(words.indexOf(sub) + 1).filter((text) => !text.startsWith("-"));
  if (program === "docker" && sub === "compose")
    return /^(?:logs|exec|run|pull|build)$/.test(rest.find((text) => !/\.ya?ml$/.test(text)) ?? "");
  if (/^(?:container|image)$/.test(sub)) return /^(?:logs|exec|run|pull|build)$/.test(rest[0] ?? "");
  if (
    /^(?:run|run-script|exec|x|workspaces?|foreach|-r|recursive)$/.test(sub) &&
    program !== "cargo" &&
    program !== "go"
  )
    return rest.some((text) => FETCHING_NAME.test(text));
  return false;
}

function scriptSource(
  path: string,
  invocation: Invocation,
  host: ShellEnvironment,
  about: OutsideContext,
): string | null {
  const full = absolutePath(path, invocation.cwd, host);
  try {
    if (statSync(full).isDirectory()) return null;
    if (!isBelow(host.workspace ?? host.cwd, full)) return `${full}, which is outside the workspace`;
    const bytes = readFileSync(full);
    if (bytes.length > MAX_SCRIPT_BYTES || bytes.subarray(0, 8_192).includes(0)) return `the program ${path}`;
    const found = untrustedCodeSource({ code: bytes.toString("utf8"), cwd: invocation.cwd }, host);
    return found === null ? null : `${path}, ${found}`;
  } catch {
    // The file does not exist yet: the command that writes it was checked, the content was not.
    return about.written.has(full) || !existsSync(full) ? `the script ${path}` : `the program ${path}`;
  }
}

function interpreterSource(invocation: Invocation, host: ShellEnvironment, about: OutsideContext): string | null {
  const texts = argTexts(invocation);
  const program = programName(invocation);
  if (about.hasInner) return null;
  if (/^python|^pypy/.test(program)) {
    const module = texts[texts.indexOf("-m") + 1];
    if (texts.includes("-m")) {
      const rest = texts.slice(texts.indexOf("-m") + 2).find((text) => !text.startsWith("-")) ?? "";
      if (module === "pip") return LOCAL_SUBCOMMANDS.pip?.has(rest) ? null : "pip";
      return PYTHON_MODULES.test(module ?? "") ? null : `python -m ${module}`;
    }
  }
  if (/^node/.test(program) && texts.some((text) => /^--(?:test|check)$/.test(text))) return null;
  const script = operands(invocation)[0];
  if (script === undefined)
    return invocation.stdin && !invocation.stdin.dynamic
      ? untrustedCodeSource({ code: invocation.stdin.text, cwd: invocation.cwd }, host)
      : `${program}, which reads its program from standard input`;
  return script.dynamic ? `a script that ${program} runs` : scriptSource(script.text, invocation, host, about);
}

function runnerUsesNetwork(invocation: Invocation): boolean {
  const tool =
    operands(invocation)[0]
      ?.text.replace(/@[\w.^~-]+$/, "")
      .split("/")
      .pop() ?? "";
  const rest = operands(invocation).slice(1);
  return !isProjectTool(tool) || rest.some((word) => FETCHING_NAME.test(word.text));
}

/** A description of the source of the command's output, for the user; null when it is local. */
export function untrustedCommandSource(
  invocation: Invocation,
  host: ShellEnvironment,
  about: OutsideContext,
): string | null {
  const program = programName(invocation);
  const texts = argTexts(invocation);
  const name = invocation.name.text;
  const command = `the command "${commandLabel(invocation)}"`;
  const read = invocation.redirects.filter(({ operator }) => operator.startsWith("<")).map(({ target }) => target.text);
  if (read.some((text) => /^\/dev\/(?:tcp|udp)\//.test(text))) return command;
  const from = outsidePath(read, invocation, host, about);
  if (from !== undefined) return `${from}, which is outside the workspace`;
  if (name === "") return null;
  if (invocation.name.dynamic) return command;
  if (texts.length > 0 && texts.every((text) => ONLY_VERSION.test(text))) return null;
  if (STATE_PROGRAMS.has(program)) return null;
  const outsideCwd = !isBelow(host.workspace ?? host.cwd, invocation.cwd) && existsSync(invocation.cwd);
  if (program === "git") {
    const folder = outsidePath(texts, invocation, host, about);
    return gitUsesNetwork(invocation) || outsideCwd || folder !== undefined ? command : null;
  }
  if (FILE_PROGRAMS.has(program) || BUILD_PROGRAMS.has(program)) {
    if (outsideCwd) return `${invocation.cwd}, which is outside the workspace`;
    const path = outsidePath(
      FILE_PROGRAMS.has(program) ? inputWords(program, invocation) : texts,
      invocation,
      host,
      about,
    );
    if (path !== undefined) return `${path}, which is outside the workspace`;
    if (FILE_PROGRAMS.has(program)) return texts.some((text) => /^https?:\/\//.test(text)) ? command : null;
    return operands(invocation).some((word) => FETCHING_NAME.test(word.text) && !/[./]/.test(word.text))
      ? command
      : null;
  }
  if (outsideCwd) return command;
  if (RUNNERS.test(program)) return runnerUsesNetwork(invocation) ? command : null;
  if (LOCAL_SUBCOMMANDS[program.replace(/^pip[\d.]+$/, "pip")])
    return subcommandUsesNetwork(program.replace(/^pip[\d.]+$/, "pip"), invocation) ? command : null;
  if (SHELLS.test(program) || INTERPRETERS.test(program)) return interpreterSource(invocation, host, about);
  if (program === "source" || program === ".") {
    const script = operands(invocation)[0];
    return script && !script.dynamic ? scriptSource(script.text, invocation, host, about) : command;
  }
  if (name.includes("/") && !name.startsWith("/usr/") && !name.startsWith("/bin/"))
    return scriptSource(name, invocation, host, about);
  return about.hasInner && /^(?:sudo|doas|su|script|watch|entr|coproc)$/.test(program) ? null : command;
}

/** The words that name input files: without the last one for programs that write to it. */
function inputWords(program: string, invocation: Invocation): string[] {
  const texts = argTexts(invocation);
  if (/^(?:cp|mv|ln|install|tee|sponge|split)$/.test(program)) {
    const words = operands(invocation).map((word) => word.text);
    return program === "tee" || program === "sponge" ? [] : words.slice(0, -1);
  }
  if (program === "tar" || program === "zip" || program === "dd")
    return texts.filter(
      (text, at) =>
        !/^of=/.test(text) &&
        !(
          program !== "dd" &&
          at === texts.findIndex((word) => /\.(?:t?gz|zip|tar|tgz|xz|bz2)$/.test(word)) &&
          /c/.test(texts[0] ?? "")
        ),
    );
  return texts;
}
