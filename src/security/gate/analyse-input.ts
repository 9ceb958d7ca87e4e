// Analyses text for the standard input of a running program: a shell runs it as a script, an interpreter as code.
import { analyseCommand, analyseText, SHELL_RULES } from "./analyse.ts";
import type { CodeLanguage } from "./analyse-code.ts";
import type { Analysis, Effect } from "./effects.ts";
import { applyRules } from "./rules/rule.ts";
import { characterProblem } from "./shell/command-text.ts";
import type { ParseShell } from "./shell/shell-parser.ts";
import { argTexts, type Invocation, operands, programName, type ShellEnvironment } from "./shell/shell-types.ts";
import { codeLanguage, SHELLS, unwrapInvocation } from "./shell/shell-unwrap.ts";
import { ShellWalk } from "./shell/shell-walk.ts";

export interface ProgramInput {
  /** The command that started the program. */
  readonly command: string;
  readonly before: string;
  readonly text: string;
  readonly pty: boolean;
}

/** How a program interprets its standard input. */
type Reader = "data" | "shell" | "unknown" | CodeLanguage;

/** Programs that only copy, filter or count their input. */
const DATA_READERS = new Set(
  "cat tee grep egrep fgrep rg sort uniq wc head tail cut paste tr rev fold fmt nl column jq yq base64 base32 xxd od hexdump md5sum sha1sum sha256sum sha512sum gzip gunzip zcat bzip2 xz zstd diff cmp comm join sleep true false echo printf yes seq date read".split(
    " ",
  ),
);
const STATE_BUILTINS = new Set(["cd", "export", "set", "unset", "wait", "trap", "ulimit", "umask", ":"]);
/** Navigation keys: arrows, Enter, Escape, Tab, Ctrl-C, Ctrl-D, space. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: keys are control characters
const KEYS = /^(?:\u001b\[[A-DHF]|\u001b|[\t\r\n \u0003\u0004])+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: keys are control characters
const INTERRUPT = /^[\u0003\u0004]+$/;
/** A short answer to a prompt: yes, no, a number, a name. */
const ANSWER = /^[\p{L}\p{N}_.,:@+=-]{0,64}$/u;
/** `!text` and `^a^b` repeat earlier commands in an interactive shell. */
const HISTORY = /(?:^|[\s;&|(])![^\s=(]|^\^[^^\n]+\^/m;

function readsScript(invocation: Invocation): boolean {
  const texts = argTexts(invocation);
  if (texts.some((text) => /^-[A-Za-z]*[si][A-Za-z]*$/.test(text) || text === "--interactive")) return true;
  if (texts.some((text) => /^-[A-Za-z]*[ce]$/.test(text) || /^--(?:eval|command|version|help)/.test(text)))
    return false;
  const [first] = operands(invocation);
  return first === undefined || first.text === "-" || first.text.startsWith("/dev/");
}

function inputReader(invocation: Invocation): Reader {
  const program = programName(invocation);
  if (SHELLS.has(program)) return readsScript(invocation) ? "shell" : "unknown";
  const language = codeLanguage(program);
  if (language && language !== "awk") return readsScript(invocation) ? language : "unknown";
  return DATA_READERS.has(program) || STATE_BUILTINS.has(program) ? "data" : "unknown";
}

/** Any program that the command starts may be the one that reads the input. */
function readers(
  command: string,
  host: ShellEnvironment,
  parse: ParseShell,
): { found: Set<Reader>; invocations: readonly Invocation[] } {
  const walk = new ShellWalk(host, parse).run(command);
  const found = new Set<Reader>();
  if (walk.broken || walk.exceeded) found.add("shell");
  const queue = [...walk.invocations];
  for (let at = 0; at < queue.length && at < 500; at++) {
    const invocation = queue[at];
    if (!invocation) break;
    const inner = unwrapInvocation(invocation);
    queue.push(...inner.commands);
    for (const script of inner.scripts)
      if (script.language === "shell") queue.push(...new ShellWalk(host, parse).run(script.text.text).invocations);
    if (inner.commands.length === 0 && invocation.name.text !== "") found.add(inputReader(invocation));
  }
  if (queue.length >= 500) found.add("shell");
  return { found, invocations: queue };
}

/** The effects of the whole input that the earlier input did not have. */
function added(all: readonly Effect[], before: readonly Effect[]): Effect[] {
  const effectKey = (effect: Effect) => `${effect.rule}\n${effect.targets.join("\n")}`;
  const known = new Map<string, number>();
  for (const effect of before) known.set(effectKey(effect), (known.get(effectKey(effect)) ?? 0) + 1);
  return all.filter((effect) => {
    const left = known.get(effectKey(effect)) ?? 0;
    if (left > 0) known.set(effectKey(effect), left - 1);
    return left === 0;
  });
}

/** The line as a command, and the part after its first word or an escape prefix: `shell rm x`, `:!rm x`, `\\! rm x`. */
function lineReadings(line: string): string[] {
  const rest = line.replace(/^\s*\S+\s+/, "");
  const marked = line.lastIndexOf("!");
  return [...new Set([line, rest, marked === -1 ? line : line.slice(marked + 1)])];
}

/** Effects of the text in the programs' own language, such as SQL statements. */
function programEffects(invocations: readonly Invocation[], text: string, host: ShellEnvironment): Effect[] {
  return invocations.flatMap((invocation) => {
    const fed = { ...invocation, stdin: { text, dynamic: false } };
    return added(applyRules(SHELL_RULES, fed, host), applyRules(SHELL_RULES, invocation, host));
  });
}

function effectsFor(reader: Reader, text: string, host: ShellEnvironment, parse: ParseShell): readonly Effect[] {
  if (reader === "data") return [];
  if (reader !== "unknown") return analyseText(reader, text, host, parse);
  // The program may not be a shell: reports effects that are dangerous in a shell, but no errors in shell syntax.
  const shell = text
    .split("\n")
    .flatMap((line) => lineReadings(line))
    .flatMap((line) => analyseCommand(line, host, parse).effects);
  const code = (["python", "perl"] as const).flatMap((language) => analyseText(language, text, host, parse));
  return [...shell, ...code].filter((effect) => effect.rule !== "unreadable" && effect.rule !== "unknown_program");
}

const NOTHING = { effects: [], outside: null, invocations: [], readable: true };

/** The effects that this input adds, analysed together with the earlier input of the program. */
export function analyseInput(input: ProgramInput, host: ShellEnvironment, parse: ParseShell): Analysis {
  const lines = (text: string): string => (input.pty ? text.replace(/\r\n?/g, "\n") : text);
  const before = lines(input.before);
  const text = lines(input.text);
  const all = before + text;
  const { found, invocations } = readers(input.command, host, parse);
  const normal = `${input.command} <<< ${all}`;
  const shell = found.has("shell");
  if (found.size === 1 && found.has("data")) return { ...NOTHING, normal };
  if (INTERRUPT.test(input.text) || (!shell && KEYS.test(input.text))) return { ...NOTHING, normal };
  const line = all.slice(before.lastIndexOf("\n") + 1).replace(/\n$/, "");
  const coded = shell || [...found].some((reader) => reader !== "data" && reader !== "unknown");
  if (!coded && ANSWER.test(line)) return { ...NOTHING, normal };
  const refusal = characterProblem(all, () => (shell ? parse(all) : null));
  const effects = [...found].flatMap((reader) => {
    // An unknown program is analysed by its current line only.
    const start = reader === "unknown" ? before.lastIndexOf("\n") + 1 : 0;
    const earlier = before.slice(start);
    const known = earlier === "" ? [] : effectsFor(reader, earlier, host, parse);
    return added(effectsFor(reader, all.slice(start), host, parse), known);
  });
  effects.push(...programEffects(invocations, line, host));
  if (shell && HISTORY.test(text))
    effects.push({
      rule: "unreadable",
      category: "unreadable",
      level: "dangerous",
      reason: "repeats an earlier command that cannot be checked",
      targets: [],
    });
  const outside = coded ? "a program that runs its input" : null;
  return { ...NOTHING, effects, normal, outside, refusal: coded ? refusal : undefined };
}
