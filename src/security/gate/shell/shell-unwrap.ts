// Finds the command or script that an invocation runs: wrappers, shells and interpreters.
import type { CodeLanguage } from "../analyse-code.ts";
import {
  asShellScripts,
  environmentScripts,
  type Inner,
  type InnerScript,
  joinWords,
  NOTHING,
  SPECIAL,
  shellScript,
  stdinScripts,
  valueAfter,
  withCommand,
} from "./shell-programs.ts";
import { argTexts, type Invocation, operands, programName, UNKNOWN, type Word } from "./shell-types.ts";
import { LOADER, LOOSE_WRAPPERS, WRAPPERS, type Wrapper } from "./shell-wrappers.ts";

export const SHELLS = new Set([
  "sh",
  "bash",
  "zsh",
  "ksh",
  "dash",
  "ash",
  "fish",
  "csh",
  "tcsh",
  "mksh",
  "rbash",
  "busybox-sh",
]);

interface Interpreter {
  readonly language: CodeLanguage;
  /** A short option that takes code, also at the end of a group; the code may follow in the same word. */
  readonly short: RegExp;
  readonly long?: readonly string[] | undefined;
}

const PERL: Interpreter = { language: "perl", short: /^-[acdfghilnpstuwWTUXS0-9]*[eE]([\s\S]*)$/ };
const NODE: Interpreter = { language: "javascript", short: /^-(?:pe|e|p)([\s\S]*)$/, long: ["--eval", "--print"] };
const PYTHON: Interpreter = { language: "python", short: /^-[bBdEiIOPqsSuvx]*c([\s\S]*)$/ };

const INTERPRETERS: { readonly [program: string]: Interpreter } = {
  python: PYTHON,
  pypy: PYTHON,
  perl: PERL,
  ruby: { ...PERL, language: "ruby" },
  node: NODE,
  nodejs: NODE,
  deno: { ...NODE, short: /^eval()$/ },
  bun: NODE,
  php: { language: "php", short: /^-[rBRE]([\s\S]*)$/, long: ["--run"] },
  lua: { language: "perl", short: /^-e([\s\S]*)$/ },
  luajit: { language: "perl", short: /^-e([\s\S]*)$/ },
};

/** The language of an interpreter; undefined for other programs. */
export function codeLanguage(program: string): CodeLanguage | undefined {
  return INTERPRETERS[program.replace(/[\d.]+$/, "")]?.language;
}

/** Everything this invocation would run besides itself. */
export function unwrapInvocation(invocation: Invocation): Inner {
  const inner = unwrapProgram(invocation);
  const scripts = environmentScripts(invocation);
  return scripts.length === 0 ? inner : { ...inner, scripts: [...inner.scripts, ...scripts] };
}

function unwrapProgram(invocation: Invocation): Inner {
  const program = programName(invocation);
  const wrapper = WRAPPERS[program];
  if (program === "command" && argTexts(invocation).some((arg) => /^-[pvV]*[vV]/.test(arg))) return NOTHING;
  if (LOOSE_WRAPPERS.has(program) || LOADER.test(program)) return unwrapLooseWrapper(invocation);
  if (wrapper) return wrapped(invocation, program, wrapper);
  if (SHELLS.has(program)) return shellInner(invocation);
  const interpreter = INTERPRETERS[program.replace(/[\d.]+$/, "")];
  if (interpreter) return interpreterInner(invocation, interpreter);
  return SPECIAL[program]?.(invocation) ?? NOTHING;
}

const MAX_POSITIONS = 8;

/** The command may start at any word that is not an option, so each position is checked. */
function unwrapLooseWrapper(invocation: Invocation): Inner {
  const { args } = invocation;
  const scripts = asShellScripts([
    ...valueAfter(invocation, "-c", "--command"),
    ...args.flatMap((word) => (/^[|!]/.test(word.text) ? [{ ...word, text: word.text.slice(1) }] : [])),
  ]).scripts;
  const commands = args
    .flatMap((word, at) => (word.text.startsWith("-") || word.text === "" || word.text === "{" ? [] : [at]))
    .slice(0, MAX_POSITIONS)
    .map((at) =>
      withCommand(
        invocation,
        args.slice(at).filter((word) => word.text !== "--" && word.text !== "{"),
      ),
    );
  return { commands, scripts };
}

function wrapped(invocation: Invocation, program: string, wrapper: Wrapper): Inner {
  const { args } = invocation;
  let at = 0;
  const scripts: InnerScript[] = [];
  const values: { [name: string]: string } = {};
  while (at < args.length) {
    const text = args[at]?.text ?? "";
    if (text === "--") {
      at++;
      break;
    }
    const assignment = /^[A-Za-z_]\w*=/.test(text) && (program === "env" || program === "sudo" || program === "doas");
    if (!text.startsWith("-") && !assignment) break;
    if (assignment) values[text.slice(0, text.indexOf("="))] = text.slice(text.indexOf("=") + 1);
    const value = args[at + 1];
    if ((program === "env" && /^(?:-\w*S|--split-string)/.test(text)) || (program === "flock" && text === "-c")) {
      const inline = text.replace(/^(?:-\w*S|--split-string=?)/, "");
      scripts.push({
        language: "shell",
        text:
          inline === "" || text === "-c"
            ? (value ?? joinWords([]))
            : { text: inline, dynamic: inline.includes(UNKNOWN) },
        positional: [],
      });
    }
    const takesValue =
      new RegExp(`^-[A-Za-z]*[${wrapper.values || "\\0"}]$`).test(text) || wrapper.long?.includes(text);
    at += takesValue && !assignment ? 2 : 1;
  }
  const rest = args.slice(at + (wrapper.skip ?? 0));
  if (rest.length === 0) return { commands: [], scripts };
  if (program === "flock" && rest[0]?.text === "-c") return shellScript(rest[1]);
  const inner = { ...withCommand(invocation, rest), values };
  const fed = program === "xargs" || program === "parallel";
  const words = fed ? [...inner.args, { text: UNKNOWN, dynamic: true }] : inner.args;
  const alone = rest.length === 1 && (program === "parallel" || program === "watch") && /\s/.test(rest[0]?.text ?? "");
  if (alone) return shellScript(rest[0]);
  return { commands: [{ ...inner, args: words }], scripts };
}

/** The script file of a shell call, after its options and their values. */
export function scriptOperand(invocation: Invocation): Word | undefined {
  const { args } = invocation;
  for (let at = 0; at < args.length; at++) {
    const text = args[at]?.text ?? "";
    if (text === "--") return args[at + 1];
    if (/^[-+][A-Za-z]*[oO]$/.test(text) || /^--(?:rcfile|init-file)$/.test(text)) at++;
    else if (!/^[-+]/.test(text) || text === "-") return args[at];
  }
  return undefined;
}

/** `sh -c script`, a script on standard input, or a process substitution. */
function shellInner(invocation: Invocation): Inner {
  const { args } = invocation;
  const at = args.findIndex((word) => /^-[A-Za-z]*c[A-Za-z]*$/.test(word.text) && !word.text.startsWith("--"));
  if (at !== -1) {
    let from = at + 1;
    while (/^[-+]/.test(args[from]?.text ?? "") && args[from]?.text !== "-") from += args[from]?.text === "-o" ? 2 : 1;
    return shellScript(args[from], args.slice(from + 2));
  }
  return stdinScripts(invocation, "shell");
}

/** The code of an option: in the same word, after `=`, or the next word. */
function codeAt(args: readonly Word[], index: number, { short, long = [] }: Interpreter): Word | undefined {
  const word = args[index];
  if (!word) return undefined;
  const name = long.find((flag) => word.text === flag || word.text.startsWith(`${flag}=`));
  if (name && word.text !== name) return { text: word.text.slice(name.length + 1), dynamic: word.dynamic };
  const rest = name ? "" : word.text.startsWith("--") ? undefined : short.exec(word.text)?.[1];
  if (rest === undefined) return undefined;
  return rest === "" ? args[index + 1] : { text: rest, dynamic: word.dynamic };
}

function interpreterInner(invocation: Invocation, interpreter: Interpreter): Inner {
  const { args } = invocation;
  const { language } = interpreter;
  const scripts = args.flatMap((_word, index): InnerScript[] => {
    const text = codeAt(args, index, interpreter);
    return text ? [{ language, text, positional: [] }] : [];
  });
  const script = operands(invocation)[0];
  if (scripts.length === 0 && (script === undefined || /^(?:-|\/dev\/stdin|\/dev\/fd\/0)$/.test(script.text)))
    return stdinScripts(invocation, language);
  return { commands: [], scripts };
}
