// From the text of a command to its effects: parse, unwrap everything that runs something else, apply the rules.
import { codeEffects } from "./analyse-code.ts";
import type { Analysis, Effect } from "./effects.ts";
import { comparisonText, normaliseCommand } from "./normalise.ts";
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

const MAX_DEPTH = 6;
/** Small scripts are always read to the end, also on a busy machine; only large ones can take long by themselves. */
const TIME_BUDGET_MS = { small: 5_000, large: 600 };
const LARGE = 5_000;

/** Words that make an unreadable text suspicious; without them a parse error is left to the shell. */
const ALARMING =
  /\b(?:rm|mkfs|dd|shred|eval|exec|sudo|chmod|chown|curl|wget|nc|base64|kill|pkill|killall|shutdown|reboot|halt|poweroff|python\d?|perl|ruby|node|sh|bash|zsh|git|systemctl|crontab|find|xargs|mv|tee|docker)\b|\/etc\/|\/dev\/|\.ssh|\.env|>\s*[/~]|\s-[a-z]*(?:rf|fr)\b|[\w/]\[[^\]]{1,8}\]\w*\s/i;

/** Shortcuts for the disasters, for text that cannot be parsed. */
const DISASTER: readonly [RegExp, string][] = [
  [/\brm\s+(?:-[\w-]+\s+)+(?:--\s+)?["']?(?:\/|~|\$HOME|\$\{HOME\})["']?(?:\/?\*)?(?:\s|$|[;&|)])/, "delete_vital"],
  [/:\s*\(\s*\)\s*\{[^}]*:\s*\|\s*:/, "fork_bomb"],
  [/\bmkfs(?:\.\w+)?\s+[^|;&]*\/dev\//, "format_disk"],
  [/\bdd\b[^|;&]*\bof=\/dev\/(?:sd|nvme|hd|mmcblk|vd|xvd)/, "write_disk"],
];

class Analyser {
  readonly effects: Effect[] = [];
  readonly invocations: Invocation[] = [];
  readable = true;
  readonly #world: ShellWorld;
  readonly #parse: ParseShell;
  readonly #deadline: number;
  readonly #seen = new Set<string>();

  constructor(world: ShellWorld, parse: ParseShell, size: number) {
    this.#deadline = performance.now() + (size < LARGE ? TIME_BUDGET_MS.small : TIME_BUDGET_MS.large);
    this.#world = world;
    this.#parse = parse;
  }

  script(
    text: string,
    depth: number,
    variables: ReadonlyMap<string, string | undefined> = new Map(),
    cwd = this.#world.cwd,
  ): void {
    const normal = normaliseCommand(text);
    const key = `${depth > 0 ? cwd : ""}\n${normal}\n${[...variables].filter(([name]) => /^[\d@*]/.test(name)).join()}`;
    if (normal === "" || this.#seen.has(key)) return;
    this.#seen.add(key);
    if (depth > MAX_DEPTH || performance.now() > this.#deadline) {
      this.#unreadable(normal, "is nested too deeply to be read");
      return;
    }
    const world = { ...this.#world, cwd };
    const walk = new ShellWalk(world, this.#parse, variables, this.#deadline);
    const result = walk.run(normal);
    if (walk.variables.size > variables.size) this.readable = false;
    if (result.forkBomb) this.#add("fork_bomb", "service", "hardline", "multiplies until the machine stops");
    if (result.broken) this.#unreadable(normal, "cannot be read by the shell grammar");
    for (const invocation of result.invocations) {
      if (performance.now() > this.#deadline) {
        this.#unreadable(normal, "takes too long to be read");
        break;
      }
      this.#invocation(invocation, depth, walk.variables);
    }
    this.#chains(result.invocations);
  }

  #invocation(invocation: Invocation, depth: number, variables: ReadonlyMap<string, string | undefined>): void {
    this.invocations.push(invocation);
    this.effects.push(...applyRules(SHELL_RULES, invocation, this.#world));
    if (depth > MAX_DEPTH) return;
    const inner = innerOf(invocation);
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
    const found = codeEffects(script.language, script.text.text, { ...this.#world, cwd: invocation.cwd });
    this.effects.push(...found.effects);
    for (const shell of found.scripts) this.script(shell, depth + 1, variables, invocation.cwd);
    for (const argv of found.commands) this.argv(argv, invocation.cwd, depth + 1);
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

  #unreadable(text: string, why: string): void {
    this.readable = false;
    for (const [pattern, rule] of DISASTER)
      if (pattern.test(text)) this.#add(rule, "deletion", "hardline", "looks like it destroys the system");
    if (ALARMING.test(text)) this.#add("unreadable", "unreadable", "dangerous", why);
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

/** The effects of a shell command. */
export function analyseCommand(command: string, world: ShellWorld, parse: ParseShell): Analysis {
  const analyser = new Analyser(world, parse, command.length);
  analyser.script(command, 0);
  const { invocations, readable } = analyser;
  return { effects: unique(analyser.effects), normal: comparisonText(command), invocations, readable };
}

/** The effects of a program in Python or JavaScript, with the shell commands inside it. */
export function analyseProgram(
  language: "python" | "javascript",
  code: string,
  world: ShellWorld,
  parse: ParseShell,
): Analysis {
  const analyser = new Analyser(world, parse, code.length);
  const found = codeEffects(language, code, world);
  for (const script of found.scripts) analyser.script(script, 1);
  for (const argv of found.commands) analyser.argv(argv, world.cwd, 1);
  const { invocations, readable } = analyser;
  return { effects: unique([...found.effects, ...analyser.effects]), normal: code.trim(), invocations, readable };
}
