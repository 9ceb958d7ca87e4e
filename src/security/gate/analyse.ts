// From the text of a command to its effects: parse, unwrap everything that runs something else, apply the rules.
import { type CodeLanguage, codeEffects, MAX_CODE } from "./analyse-code.ts";
import { characterProblem, MAX_COMMAND, programNameProblem } from "./command-text.ts";
import type { Analysis, Effect } from "./effects.ts";
import { applyRules, type ShellRule } from "./rule.ts";
import { EXECUTION_RULES } from "./rules-execution.ts";
import { FILE_RULES } from "./rules-files.ts";
import { GIT_RULES } from "./rules-git.ts";
import { HARDLINE_RULES } from "./rules-hardline.ts";
import { SYSTEM_RULES } from "./rules-system.ts";
import { staticOutput } from "./shell-output.ts";
import type { ParseShell } from "./shell-parser.ts";
import { type Invocation, programOf, type ShellWorld } from "./shell-types.ts";
import { type InnerScript, innerOf } from "./shell-unwrap.ts";
import { absolutePath, ShellWalk } from "./shell-walk.ts";

export const SHELL_RULES: readonly ShellRule[] = [
  ...HARDLINE_RULES,
  ...FILE_RULES,
  ...SYSTEM_RULES,
  ...EXECUTION_RULES,
  ...GIT_RULES,
];

const MAX_DEPTH = 12;
/** All commands of a text together with those inside them. */
const MAX_COMMANDS = 10_000;
/** Far more than the limits above need; only a safeguard. */
const TIME_BUDGET_MS = 4_000;

const TOO_COMPLEX = "is too long or too deeply nested to be checked";
const UNPARSED = "cannot be read by the shell grammar, so it cannot be checked";

/** Shortcuts for the disasters, for text that cannot be parsed. */
const DISASTER: readonly [RegExp, string][] = [
  [/\brm\s+(?:-[\w-]+\s+)+(?:--\s+)?["']?(?:\/|~|\$HOME|\$\{HOME\})["']?(?:\/?\*)?(?:\s|$|[;&|)])/, "delete_vital"],
  [/:\s*\(\s*\)\s*\{[^}]*:\s*\|\s*:/, "fork_bomb"],
  [/\bmkfs(?:\.\w+)?\s+[^|;&]*\/dev\//, "format_disk"],
  [/\bdd\b[^|;&]*\bof=\/dev\/(?:sd|nvme|hd|mmcblk|vd|xvd)/, "write_disk"],
];

class Analyser {
  readonly effects: Effect[] = [];
  /** Why the text is not judged at all, with the way to write it instead. */
  refusal: string | undefined;
  readonly #world: ShellWorld;
  readonly #parse: ParseShell;
  readonly #deadline = performance.now() + TIME_BUDGET_MS;
  readonly #seen = new Set<string>();
  #commands = 0;

  constructor(world: ShellWorld, parse: ParseShell) {
    this.#world = world;
    this.#parse = parse;
  }

  script(
    text: string,
    depth: number,
    variables: ReadonlyMap<string, string | undefined> = new Map(),
    cwd = this.#world.cwd,
  ): void {
    const key = `${depth > 0 ? cwd : ""}\n${text}\n${[...variables].filter(([name]) => /^[\d@*]/.test(name)).join()}`;
    if (text.trim() === "" || this.#seen.has(key)) return;
    this.#seen.add(key);
    if (depth > MAX_DEPTH || text.length > MAX_COMMAND || performance.now() > this.#deadline) {
      this.#unreadable(text, "too_complex", TOO_COMPLEX);
      return;
    }
    this.refusal ??= characterProblem(text, () => this.#parse(text));
    const world = { ...this.#world, cwd };
    const walk = new ShellWalk(world, this.#parse, variables, this.#deadline);
    const result = walk.run(text);
    if (result.forkBomb) this.#add("fork_bomb", "service", "hardline", "multiplies until the machine stops");
    if (result.exceeded) this.#unreadable(text, "too_complex", TOO_COMPLEX);
    else if (result.broken) this.#unreadable(text, "unreadable", UNPARSED);
    for (const invocation of result.invocations) this.#invocation(invocation, depth, walk.variables);
    this.#chains(result.invocations);
  }

  #invocation(invocation: Invocation, depth: number, variables: ReadonlyMap<string, string | undefined>): void {
    if (++this.#commands > MAX_COMMANDS || performance.now() > this.#deadline) {
      if (this.#commands <= MAX_COMMANDS + 1) this.#add("too_complex", "unreadable", "dangerous", TOO_COMPLEX);
      this.#commands = MAX_COMMANDS + 1;
      return;
    }
    this.refusal ??= programNameProblem(invocation.name.text);
    this.effects.push(...applyRules(SHELL_RULES, invocation, this.#world));
    const inner = innerOf(invocation);
    if (depth > MAX_DEPTH && inner.commands.length + inner.scripts.length > 0) {
      this.#add("too_complex", "unreadable", "dangerous", TOO_COMPLEX);
      return;
    }
    for (const command of inner.commands) this.#invocation(command, depth + 1, variables);
    for (const script of inner.scripts) this.#inner(script, invocation, depth, variables);
  }

  #inner(
    script: InnerScript,
    invocation: Invocation,
    depth: number,
    variables: ReadonlyMap<string, string | undefined>,
  ): void {
    if (script.language === "shell") {
      const known = new Map(variables);
      for (const [index, word] of script.positional.entries())
        known.set(String(index + 1), word.dynamic ? undefined : word.text);
      const all = script.positional.map((word) => word.text).join(" ");
      if (all !== "") known.set("@", all).set("*", all);
      this.script(script.text.text, depth + 1, known, invocation.cwd);
      return;
    }
    this.program(script.language, script.text.text, invocation.cwd, depth);
  }

  /** A program text in another language, with the shell commands inside it. */
  program(language: CodeLanguage, code: string, cwd: string, depth = 0): void {
    if (code.length > MAX_CODE) this.#add("too_complex", "unreadable", "dangerous", TOO_COMPLEX);
    const found = codeEffects(language, code, { ...this.#world, cwd });
    this.effects.push(...found.effects);
    for (const shell of found.scripts) this.script(shell, depth + 1, new Map(), cwd);
    for (const argv of found.commands) this.argv(argv, cwd, depth + 1);
  }

  /** A command that is already split into words, as programs pass it to each other. */
  argv(words: readonly string[], cwd: string, depth = 0): void {
    const [name = "", ...args] = words.map((text) => ({ text, dynamic: false }));
    const command = typeof name === "string" ? { text: name, dynamic: false } : name;
    this.#invocation(
      { name: command, args, redirects: [], upstream: [], cwd, assigned: [], background: false },
      depth,
      new Map(),
    );
  }

  /** A file that this script downloads, writes or makes executable, and then runs. */
  #chains(invocations: readonly Invocation[]): void {
    const fresh = new Map<string, Fresh>();
    for (const invocation of invocations) {
      const opener = OPENERS.test(programOf(invocation));
      const opened = opener ? invocation.args.find((word) => !word.text.startsWith("-")) : invocation.name;
      const made = fresh.get(absolutePath(opened?.text ?? "", invocation.cwd, this.#world));
      if (made?.how === "downloaded")
        this.#add("run_fresh", "execution", "dangerous", "runs a file that was just downloaded");
      if (made?.how === "executable" && !opener && invocation.name.text.includes("/"))
        this.#add("run_fresh", "execution", "dangerous", "makes a file executable and runs it");
      if (made?.text !== undefined) this.script(made.text, 1, new Map(), invocation.cwd);
      for (const [path, file] of freshFiles(invocation, this.#world)) {
        const before = fresh.get(path);
        fresh.set(
          path,
          before ? { ...before, ...file, how: before.how === "downloaded" ? before.how : file.how } : file,
        );
      }
    }
  }

  #unreadable(text: string, rule: "too_complex" | "unreadable", why: string): void {
    for (const [pattern, disaster] of DISASTER)
      if (pattern.test(text)) this.#add(disaster, "deletion", "hardline", "looks like it destroys the system");
    this.#add(rule, "unreadable", "dangerous", why);
  }

  #add(rule: string, category: Effect["category"], level: Effect["level"], reason: string): void {
    this.effects.push({ rule, category, level, reason, targets: [] });
  }
}

const OPENERS = /^(?:sh|bash|zsh|dash|ksh|source|\.|python\d?|perl|ruby|node)$/;

interface Fresh {
  readonly how: "downloaded" | "executable" | "written";
  /** What was written, when it is known. */
  readonly text?: string;
}

/** Files that the command brings into being or makes runnable. */
function freshFiles(invocation: Invocation, world: ShellWorld): [string, Fresh][] {
  const program = programOf(invocation);
  const path = (text: string): string => absolutePath(text, invocation.cwd, world);
  const redirected = invocation.redirects
    .filter(({ operator }) => operator.includes(">"))
    .map(({ target }) => target.text);
  if (program === "curl" || program === "wget") {
    const named = invocation.args.filter((_word, at) =>
      /^-(?:o|O|-output|-output-document)$/.test(invocation.args[at - 1]?.text ?? ""),
    );
    return [...redirected, ...named.map((word) => word.text)].map((text) => [path(text), { how: "downloaded" }]);
  }
  if (program === "chmod" && /\+x|[1357]\d\d$/.test(invocation.args[0]?.text ?? ""))
    return invocation.args.slice(1).map((word) => [path(word.text), { how: "executable" }]);
  const text = redirected.length > 0 ? staticOutput([...invocation.upstream, invocation], invocation.cwd) : undefined;
  return text === undefined ? [] : redirected.map((target) => [path(target), { how: "written", text }]);
}

function unique(effects: readonly Effect[]): Effect[] {
  const seen = new Set<string>();
  return effects.filter((effect) => {
    const key = `${effect.rule}\n${effect.targets.join("\n")}`;
    return seen.has(key) ? false : seen.add(key);
  });
}

function analysisOf(analyser: Analyser, normal: string): Analysis {
  const { refusal } = analyser;
  return { effects: unique(analyser.effects), normal, ...(refusal ? { refusal } : {}) };
}

/** For comparison of intents: where blanks only separate words, several are one. */
function comparisonText(command: string): string {
  const text = command.trim();
  return /['"\\`\n<#=]/.test(text) ? text : text.replace(/[ \t]+/g, " ");
}

/** The effects of a shell command. */
export function analyseCommand(command: string, world: ShellWorld, parse: ParseShell): Analysis {
  const analyser = new Analyser(world, parse);
  analyser.script(command, 0);
  return analysisOf(analyser, comparisonText(command));
}

/** The effects of a program in Python or JavaScript, with the shell commands inside it. */
export function analyseProgram(
  language: "python" | "javascript",
  code: string,
  world: ShellWorld,
  parse: ParseShell,
): Analysis {
  const analyser = new Analyser(world, parse);
  analyser.program(language, code, world.cwd);
  return analysisOf(analyser, code.trim());
}

/** The effects of a text in one language, each as often as it occurs. */
export function analyseText(
  language: CodeLanguage | "shell",
  text: string,
  world: ShellWorld,
  parse: ParseShell,
): readonly Effect[] {
  const analyser = new Analyser(world, parse);
  if (language === "shell") analyser.script(text, 0);
  else analyser.program(language, text, world.cwd);
  return analyser.effects;
}
