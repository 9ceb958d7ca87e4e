// Turns a command into its effects: parse it, unwrap the commands inside it, apply the rules to each.
import { type CodeLanguage, codeEffects, MAX_CODE } from "./analyse-code.ts";
import { strictFindings } from "./code-strict.ts";
import type { Analysis, Effect } from "./effects.ts";
import { untrustedCodeSource } from "./outside/outside-code.ts";
import { untrustedCommandSource } from "./outside/outside-text.ts";
import { EXECUTION_RULES } from "./rules/execution.ts";
import { FILE_RULES } from "./rules/files.ts";
import { findFreshRuns } from "./rules/fresh-files.ts";
import { GIT_RULES } from "./rules/git.ts";
import { HARDLINE_RULES } from "./rules/hardline.ts";
import { OPTION_RULES } from "./rules/options.ts";
import { indirectReads, PATH_RULES, protectedPathsInCode } from "./rules/protected-path-rules.ts";
import { PUBLISHING_RULES } from "./rules/publishing.ts";
import { applyRules, type ShellRule } from "./rules/rule.ts";
import { SYSTEM_RULES } from "./rules/system.ts";
import { writeTargets } from "./rules/write-targets.ts";
import { characterProblem, MAX_COMMAND, programNameProblem } from "./shell/command-text.ts";
import type { ParseShell } from "./shell/shell-parser.ts";
import type { InnerScript } from "./shell/shell-programs.ts";
import type { Invocation, ShellEnvironment } from "./shell/shell-types.ts";
import { unwrapInvocation } from "./shell/shell-unwrap.ts";
import { ShellWalk } from "./shell/shell-walk.ts";

export const SHELL_RULES: readonly ShellRule[] = [
  ...HARDLINE_RULES,
  ...FILE_RULES,
  ...PATH_RULES,
  ...SYSTEM_RULES,
  ...EXECUTION_RULES,
  ...GIT_RULES,
  ...OPTION_RULES,
  ...PUBLISHING_RULES,
];

const MAX_DEPTH = 12;
/** Limit for all commands of a text, nested ones included. */
const MAX_COMMANDS = 10_000;
/** A safeguard; the limits above are reached much earlier. */
const TIME_BUDGET_MS = 4_000;

/** How many strings of unclear code are analysed. */
const MAX_PROBES = 40;

const TOO_COMPLEX = "is too long or too deeply nested to be checked";
const UNPARSED = "cannot be parsed, so it cannot be checked";

/** Patterns of destructive commands, for text that cannot be parsed. */
const DESTRUCTIVE: readonly [RegExp, string][] = [
  [/\brm\s+(?:-[\w-]+\s+)+(?:--\s+)?["']?(?:\/|~|\$HOME|\$\{HOME\})["']?(?:\/?\*)?(?:\s|$|[;&|)])/, "delete_vital"],
  [/:\s*\(\s*\)\s*\{[^}]*:\s*\|\s*:/, "fork_bomb"],
  [/\bmkfs(?:\.\w+)?\s+[^|;&]*\/dev\//, "format_disk"],
  [/\bdd\b[^|;&]*\bof=\/dev\/(?:sd|nvme|hd|mmcblk|vd|xvd)/, "write_disk"],
];

/** `${X@P}` runs the substitutions inside a value. */
const PROMPT_EXPANSION = /\$\{!?\w+(?:\[[^\]]*\])?@P\}/;

class Analyser {
  readonly effects: Effect[] = [];
  /** Why the text is refused without analysis, and how to write it instead. */
  refusal: string | undefined;
  outside: string | null = null;
  readonly invocations: Invocation[] = [];
  readable = true;
  readonly #written = new Set<string>();
  readonly #host: ShellEnvironment;
  readonly #parse: ParseShell;
  readonly #deadline = performance.now() + TIME_BUDGET_MS;
  readonly #seen = new Set<string>();
  #commands = 0;

  constructor(host: ShellEnvironment, parse: ParseShell) {
    this.#host = host;
    this.#parse = parse;
  }

  script(
    text: string,
    depth: number,
    variables: ReadonlyMap<string, string | undefined> = new Map(),
    cwd = this.#host.cwd,
  ): void {
    const key = `${depth > 0 ? cwd : ""}\n${text}\n${[...variables].filter(([name]) => /^[\d@*]/.test(name)).join()}`;
    if (text.trim() === "" || this.#seen.has(key)) return;
    this.#seen.add(key);
    if (depth > MAX_DEPTH || text.length > MAX_COMMAND || performance.now() > this.#deadline) {
      this.#unreadable(text, "too_complex", TOO_COMPLEX);
      return;
    }
    this.refusal ??= characterProblem(text, () => this.#parse(text));
    const host = { ...this.#host, cwd };
    const walk = new ShellWalk(host, this.#parse, variables, this.#deadline);
    const result = walk.run(text);
    if (walk.variables.size > variables.size) this.readable = false;
    if (PROMPT_EXPANSION.test(text))
      this.#add("prompt_expansion", "execution", "dangerous", "runs commands inside the value of a variable");
    if (result.forkBomb) this.#add("fork_bomb", "service", "hardline", "starts processes without limit");
    if (result.exceeded) this.#unreadable(text, "too_complex", TOO_COMPLEX);
    else if (result.broken) this.#unreadable(text, "unreadable", UNPARSED);
    for (const invocation of result.invocations) this.#invocation(invocation, depth, walk.variables);
    this.effects.push(...indirectReads(result.invocations, this.#host));
    this.#checkFreshRuns(result.invocations);
  }

  #invocation(invocation: Invocation, depth: number, variables: ReadonlyMap<string, string | undefined>): void {
    if (++this.#commands > MAX_COMMANDS || performance.now() > this.#deadline) {
      if (this.#commands <= MAX_COMMANDS + 1) this.#add("too_complex", "unreadable", "dangerous", TOO_COMPLEX);
      this.#commands = MAX_COMMANDS + 1;
      this.readable = false;
      return;
    }
    this.refusal ??= programNameProblem(invocation.name.text);
    this.invocations.push(invocation);
    this.effects.push(...applyRules(SHELL_RULES, invocation, this.#host));
    const inner = unwrapInvocation(invocation);
    const hasInner = inner.commands.length + inner.scripts.length > 0;
    if (depth > MAX_DEPTH && hasInner) {
      this.#add("too_complex", "unreadable", "dangerous", TOO_COMPLEX);
      return;
    }
    this.outside ??= untrustedCommandSource(invocation, this.#host, { hasInner, written: this.#written });
    for (const path of writeTargets(invocation, this.#host)) this.#written.add(path);
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
    const { text: code } = script.text;
    this.outside ??= untrustedCodeSource({ code, cwd: invocation.cwd, commandsKnown: false }, this.#host);
    this.effects.push(...protectedPathsInCode(code, this.#host));
    this.inline(script.language, code, invocation.cwd, depth);
  }

  /** Analyses a program in another language and the shell commands inside it. */
  program(language: CodeLanguage, code: string, cwd: string, depth = 0): void {
    if (code.length > MAX_CODE) this.#add("too_complex", "unreadable", "dangerous", TOO_COMPLEX);
    const found = codeEffects(language, code, { ...this.#host, cwd });
    this.effects.push(...found.effects);
    for (const shell of found.scripts) this.script(shell, depth + 1, new Map(), cwd);
    for (const argv of found.commands) this.argv(argv, cwd, depth + 1);
  }

  /** Analyses code on a command line with the strict rules: unclear code needs approval. */
  inline(language: CodeLanguage, code: string, cwd: string, depth = 0): void {
    this.program(language, code, cwd, depth);
    if (depth > MAX_DEPTH) return;
    const host = { ...this.#host, cwd };
    const found = strictFindings(language, code, host);
    this.effects.push(...found.effects);
    // It is unknown whether these strings are run: only hardline effects are reported.
    const probe = new Analyser(host, this.#parse);
    for (const text of found.scripts.slice(0, MAX_PROBES)) probe.script(text, depth + 1);
    for (const argv of found.commands.slice(0, MAX_PROBES)) probe.argv(argv, cwd, depth + 1);
    this.effects.push(...probe.effects.filter((effect) => effect.level === "hardline"));
  }

  /** Analyses a command that is already split into words. */
  argv(words: readonly string[], cwd: string, depth = 0): void {
    const [name = "", ...args] = words.map((text) => ({ text, dynamic: false }));
    const command = typeof name === "string" ? { text: name, dynamic: false } : name;
    this.#invocation(
      { name: command, args, redirects: [], upstream: [], cwd, assigned: [], background: false },
      depth,
      new Map(),
    );
  }

  /** Reports files that the script downloads, writes or makes executable and then runs. */
  #checkFreshRuns(invocations: readonly Invocation[]): void {
    for (const run of findFreshRuns(invocations, this.#host)) {
      if (run.how === "downloaded")
        this.#add("run_fresh", "execution", "dangerous", "runs a file that was just downloaded");
      else if (run.text === undefined)
        this.#add("run_fresh", "execution", "dangerous", "runs a file that was just written or made executable");
      else if (run.language === "shell")
        for (const text of [run.text, run.concatenated ?? ""]) this.script(text, 1, new Map(), run.cwd);
      else this.inline(run.language, run.text, run.cwd, 1);
    }
  }

  #unreadable(text: string, rule: "too_complex" | "unreadable", why: string): void {
    this.readable = false;
    this.outside ??= "a command that cannot be parsed";
    for (const [pattern, destructive] of DESTRUCTIVE)
      if (pattern.test(text)) this.#add(destructive, "deletion", "hardline", "looks like it destroys the system");
    this.#add(rule, "unreadable", "dangerous", why);
  }

  #add(rule: string, category: Effect["category"], level: Effect["level"], reason: string): void {
    this.effects.push({ rule, category, level, reason, targets: [] });
  }
}

function unique(effects: readonly Effect[]): Effect[] {
  const seen = new Set<string>();
  return effects.filter((effect) => {
    const key = `${effect.rule}\n${effect.targets.join("\n")}`;
    return seen.has(key) ? false : seen.add(key);
  });
}

function toAnalysis(analyser: Analyser, normal: string): Analysis {
  const { refusal, outside, invocations, readable } = analyser;
  return { effects: unique(analyser.effects), normal, outside, invocations, readable, refusal };
}

/** The command for comparison: runs of blanks become one where they only separate words. */
function comparisonText(command: string): string {
  const text = command.trim();
  return /['"\\`\n<#=]/.test(text) ? text : text.replace(/[ \t]+/g, " ");
}

/** The effects of a shell command. */
export function analyseCommand(command: string, host: ShellEnvironment, parse: ParseShell): Analysis {
  const analyser = new Analyser(host, parse);
  analyser.script(command, 0);
  return toAnalysis(analyser, comparisonText(command));
}

/** The effects of a program in Python or JavaScript, with the shell commands inside it. */
export function analyseProgram(
  language: "python" | "javascript",
  code: string,
  host: ShellEnvironment,
  parse: ParseShell,
): Analysis {
  const analyser = new Analyser(host, parse);
  analyser.program(language, code, host.cwd);
  analyser.outside = untrustedCodeSource({ code, cwd: host.cwd }, host) ?? analyser.outside;
  analyser.effects.push(...protectedPathsInCode(code, host));
  return toAnalysis(analyser, code.trim());
}

/** The effects of a text in one language, duplicates included. */
export function analyseText(
  language: CodeLanguage | "shell",
  text: string,
  host: ShellEnvironment,
  parse: ParseShell,
): readonly Effect[] {
  const analyser = new Analyser(host, parse);
  if (language === "shell") analyser.script(text, 0);
  else analyser.inline(language, text, host.cwd);
  return analyser.effects;
}
