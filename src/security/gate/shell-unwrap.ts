// Programs that run other programs: finds the command or the script inside an invocation.
import type { CodeLanguage } from "./analyse-code.ts";
import { staticOutput } from "./shell-output.ts";
import { argTexts, type Invocation, operands, programOf, UNKNOWN, type Word } from "./shell-types.ts";
import { WRAPPERS, type Wrapper } from "./shell-wrappers.ts";

export interface InnerScript {
  readonly language: "shell" | CodeLanguage;
  readonly text: Word;
  /** `$1`, `$2` … of the script. */
  readonly positional: readonly Word[];
}

export interface Inner {
  readonly commands: readonly Invocation[];
  readonly scripts: readonly InnerScript[];
}

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

const INTERPRETERS: { readonly [program: string]: { language: CodeLanguage; flags: readonly string[] } } = {
  python: { language: "python", flags: ["-c"] },
  pypy: { language: "python", flags: ["-c"] },
  perl: { language: "perl", flags: ["-e", "-E"] },
  ruby: { language: "ruby", flags: ["-e"] },
  node: { language: "javascript", flags: ["-e", "--eval", "-p", "--print", "-pe"] },
  nodejs: { language: "javascript", flags: ["-e", "--eval", "-p", "--print"] },
  deno: { language: "javascript", flags: ["eval"] },
  bun: { language: "javascript", flags: ["-e", "--eval"] },
  php: { language: "php", flags: ["-r"] },
  lua: { language: "perl", flags: ["-e"] },
  luajit: { language: "perl", flags: ["-e"] },
};

/** The language of an interpreter; undefined for other programs. */
export function codeLanguage(program: string): CodeLanguage | undefined {
  return INTERPRETERS[program.replace(/[\d.]+$/, "")]?.language;
}

const NOTHING: Inner = { commands: [], scripts: [] };

/** The same place in the script, another command. */
export function derive(outer: Invocation, words: readonly Word[]): Invocation {
  const [name = { text: "", dynamic: false }, ...args] = words;
  return { ...outer, name, args, redirects: outer.redirects };
}

function shellScript(text: Word | undefined, positional: readonly Word[] = []): Inner {
  return text ? { commands: [], scripts: [{ language: "shell", text, positional }] } : NOTHING;
}

function joinWords(words: readonly Word[]): Word {
  const text = words.map((word) => word.text).join(" ");
  return { text, dynamic: text.includes(UNKNOWN) };
}

/** Everything this invocation would run besides itself. */
export function innerOf(invocation: Invocation): Inner {
  const program = programOf(invocation);
  const wrapper = WRAPPERS[program];
  if (program === "command" && argTexts(invocation).some((arg) => /^-[pvV]*[vV]/.test(arg))) return NOTHING;
  if (wrapper) return wrapped(invocation, program, wrapper);
  if (SHELLS.has(program)) return shellInner(invocation);
  const interpreter = INTERPRETERS[program.replace(/[\d.]+$/, "")];
  if (interpreter) return interpreterInner(invocation, interpreter);
  return SPECIAL[program]?.(invocation) ?? NOTHING;
}

function wrapped(invocation: Invocation, program: string, wrapper: Wrapper): Inner {
  const { args } = invocation;
  let at = 0;
  const scripts: InnerScript[] = [];
  while (at < args.length) {
    const text = args[at]?.text ?? "";
    if (text === "--") {
      at++;
      break;
    }
    const assignment = /^[A-Za-z_]\w*=/.test(text) && (program === "env" || program === "sudo" || program === "doas");
    if (!text.startsWith("-") && !assignment) break;
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
  const inner = derive(invocation, rest);
  const fed = program === "xargs" || program === "parallel";
  const words = fed ? [...inner.args, { text: UNKNOWN, dynamic: true }] : inner.args;
  const alone = rest.length === 1 && (program === "parallel" || program === "watch") && /\s/.test(rest[0]?.text ?? "");
  if (alone) return shellScript(rest[0]);
  return { commands: [{ ...inner, args: words }], scripts };
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
  return feeds(invocation, "shell");
}

/** A script that arrives on standard input, when its text is known. */
function feeds(invocation: Invocation, language: InnerScript["language"]): Inner {
  if (invocation.stdin) return { commands: [], scripts: [{ language, text: invocation.stdin, positional: [] }] };
  const fed = [...invocation.args, ...invocation.redirects.map(({ target }) => target)].flatMap(
    (word) => word.inner ?? [],
  );
  const source = fed.length > 0 ? fed : invocation.upstream;
  const text = source.length > 0 ? staticOutput(source, invocation.cwd) : undefined;
  if (text === undefined) return NOTHING;
  return { commands: [], scripts: [{ language, text: { text, dynamic: text.includes(UNKNOWN) }, positional: [] }] };
}

function interpreterInner(
  invocation: Invocation,
  interpreter: { language: InnerScript["language"]; flags: readonly string[] },
): Inner {
  const { args } = invocation;
  const scripts: InnerScript[] = [];
  for (const [index, word] of args.entries()) {
    const flag = interpreter.flags.find(
      (name) => word.text === name || (name.length === 2 && isBundle(word.text, name)),
    );
    const next = args[index + 1];
    if (flag && next) scripts.push({ language: interpreter.language, text: next, positional: [] });
    else if (
      interpreter.flags.some((name) => name.length === 2 && word.text.startsWith(name) && word.text.length > 3 && !flag)
    )
      scripts.push({
        language: interpreter.language,
        text: { text: word.text.slice(2), dynamic: word.dynamic },
        positional: [],
      });
  }
  const script = operands(invocation)[0];
  if (scripts.length === 0 && (script === undefined || script.text === "-"))
    return feeds(invocation, interpreter.language);
  return { commands: [], scripts };
}

/** `-ne`, `-lane` end with the letter that takes the code. */
function isBundle(text: string, flag: string): boolean {
  return /^-[A-Za-z0-9]+$/.test(text) && text.length <= 6 && text.endsWith(flag.slice(1));
}

function valueAfter(invocation: Invocation, ...flags: string[]): Word[] {
  return invocation.args.flatMap((word, index) => {
    const next = invocation.args[index + 1];
    if (flags.includes(word.text) && next) return [next];
    const long = flags.find((flag) => flag.startsWith("--") && word.text.startsWith(`${flag}=`));
    return long ? [{ text: word.text.slice(long.length + 1), dynamic: word.dynamic }] : [];
  });
}

function scriptsOf(words: readonly Word[]): Inner {
  return { commands: [], scripts: words.map((text) => ({ language: "shell", text, positional: [] })) };
}

/** `find … -exec cmd {} ;` */
function findInner(invocation: Invocation): Inner {
  const commands: Invocation[] = [];
  for (let at = 0; at < invocation.args.length; at++) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(invocation.args[at]?.text ?? "")) continue;
    let end = at + 1;
    while (end < invocation.args.length && !/^[;+]$/.test(invocation.args[end]?.text ?? "")) end++;
    const roots = invocation.args
      .slice(0, at)
      .filter((_word, index, all) => all.slice(0, index + 1).every((w) => !/^[-(!]/.test(w.text)));
    const words = invocation.args.slice(at + 1, end).flatMap((word) => (word.text === "{}" ? found(roots) : [word]));
    commands.push(derive(invocation, words));
    at = end;
  }
  return { commands, scripts: [] };
}

function found(roots: readonly Word[]): Word[] {
  const bases = roots.length > 0 ? roots : [{ text: ".", dynamic: false }];
  return bases.map((root) => ({ text: `${root.text.replace(/\/$/, "")}/${UNKNOWN}`, dynamic: true }));
}

/** What a remote or contained shell would run; judged as if it ran here. */
function sshInner(invocation: Invocation): Inner {
  const values = new Set([..."bcDEeFIiJLlmOopQRSWw"].map((letter) => `-${letter}`));
  let at = 0;
  while (at < invocation.args.length) {
    const text = invocation.args[at]?.text ?? "";
    if (!text.startsWith("-")) break;
    at += values.has(text) ? 2 : 1;
  }
  const proxy = valueAfter(invocation, "-o").filter((word) => /^(?:proxycommand|localcommand)/i.test(word.text));
  const rest = invocation.args.slice(at + 1);
  const inner = proxy.map((word) => ({ ...word, text: word.text.replace(/^\w+[= ]/, "") }));
  return scriptsOf(rest.length > 0 ? [joinWords(rest), ...inner] : inner);
}

function gitInner(invocation: Invocation): Inner {
  const settings = valueAfter(invocation, "-c", "--config-env").map((word) => word.text);
  const texts = argTexts(invocation);
  const config = texts.includes("config") ? [`${texts[texts.length - 2]}=${texts[texts.length - 1]}`] : [];
  const scripts = [...settings, ...config].flatMap((setting) => {
    const [key = "", ...value] = setting.split("=");
    const text = value.join("=");
    if (/^alias\./i.test(key) && text.startsWith("!")) return [text.slice(1)];
    return /^core\.(?:sshcommand|pager|editor|fsmonitor|hookspath)|^sequence\.editor|credential\..*helper|^diff\..*(?:external|textconv|command)|^(?:filter|merge)\./i.test(
      key,
    )
      ? [text.replace(/^!/, "")]
      : [];
  });
  const bisect =
    texts.indexOf("run") > 0 && texts.includes("bisect")
      ? [joinWords(invocation.args.slice(texts.indexOf("run") + 1))]
      : [];
  const each = valueAfter(
    invocation,
    "--exec",
    "-x",
    "--tree-filter",
    "--index-filter",
    "--upload-pack",
    "--receive-pack",
  );
  const foreach = texts.indexOf("foreach");
  const sub =
    foreach > 0 ? [joinWords(invocation.args.slice(foreach + 1).filter((word) => word.text !== "--recursive"))] : [];
  const own = scripts.map((text) => ({ text, dynamic: text.includes(UNKNOWN) }));
  return scriptsOf([
    ...own,
    ...bisect,
    ...(texts.includes("rebase") || texts.includes("filter-branch") ? each : []),
    ...sub,
  ]);
}

function viInner(invocation: Invocation): Inner {
  const commands = [
    ...valueAfter(invocation, "-c", "--cmd", "-ex", "-eval-command"),
    ...invocation.args.filter((word) => word.text.startsWith("+")),
  ];
  return scriptsOf(
    commands.flatMap((word) => {
      const shell =
        /(?:^|[:|+\s])(?:!|(?:silent!?\s*)?!|call\s+system\(['"]?|shell\s+|py3?\s+import os;?\s*os\.system\(['"]?)(.+)/s.exec(
          word.text,
        );
      return shell ? [{ text: shell[1]?.replace(/['"]\)\s*$/, "") ?? "", dynamic: word.dynamic }] : [];
    }),
  );
}

/** Inner commands of a container run; the container's own boundary is judged by other rules. */
const SPECIAL: { readonly [program: string]: (invocation: Invocation) => Inner } = {
  eval: (invocation) => {
    const script = joinWords(invocation.args);
    return script.text.trim() === UNKNOWN ? NOTHING : shellScript(script);
  },
  source: (invocation) => feeds(invocation, "shell"),
  ".": (invocation) => feeds(invocation, "shell"),
  mapfile: (invocation) => scriptsOf(valueAfter(invocation, "-C")),
  readarray: (invocation) => scriptsOf(valueAfter(invocation, "-C")),
  osascript: (invocation) =>
    scriptsOf(
      valueAfter(invocation, "-e").flatMap((word) => {
        const shell = /do shell script\s+"((?:[^"\\]|\\.)*)"/.exec(word.text);
        return shell ? [{ text: shell[1] ?? "", dynamic: word.dynamic }] : [];
      }),
    ),
  su: (invocation) => scriptsOf(valueAfter(invocation, "-c", "--command")),
  script: (invocation) => scriptsOf(valueAfter(invocation, "-c", "--command")),
  watch: (invocation) => shellScript(joinWords(operands(invocation).filter((word) => !/^[\d.]+$/.test(word.text)))),
  trap: (invocation) => shellScript(operands(invocation)[0]),
  alias: (invocation) =>
    scriptsOf(
      invocation.args
        .filter((word) => word.text.includes("="))
        .map((word) => ({ ...word, text: word.text.slice(word.text.indexOf("=") + 1) })),
    ),
  find: findInner,
  fd: findInner,
  ssh: sshInner,
  git: gitInner,
  vi: viInner,
  vim: viInner,
  nvim: viInner,
  ex: viInner,
  gdb: viInner,
  emacs: (invocation) =>
    scriptsOf(
      valueAfter(invocation, "--eval").map((word) => ({
        ...word,
        text: /shell-command "([^"]*)"/.exec(word.text)?.[1] ?? "",
      })),
    ),
  awk: (invocation) => awkInner(invocation),
  gawk: (invocation) => awkInner(invocation),
  mawk: (invocation) => awkInner(invocation),
  tar: (invocation) =>
    scriptsOf(
      [
        ...valueAfter(
          invocation,
          "--checkpoint-action",
          "--to-command",
          "-I",
          "--use-compress-program",
          "--rsh-command",
        ),
      ].map((word) => ({ ...word, text: word.text.replace(/^exec=/, "") })),
    ),
  rsync: (invocation) => scriptsOf(valueAfter(invocation, "-e", "--rsh")),
  npx: (invocation) => scriptsOf(valueAfter(invocation, "-c", "--call")),
  tmux: (invocation) =>
    scriptsOf(
      operands(invocation)
        .slice(1)
        .filter((word) => /\s/.test(word.text)),
    ),
  screen: (invocation) => ({ commands: [derive(invocation, operands(invocation))], scripts: [] }),
  socat: (invocation) =>
    scriptsOf(
      invocation.args.flatMap((word) =>
        /^(?:exec|system):/i.test(word.text)
          ? [{ ...word, text: word.text.replace(/^\w+:/, "").split(",")[0] ?? "" }]
          : [],
      ),
    ),
  at: (invocation) => feeds(invocation, "shell"),
  batch: (invocation) => feeds(invocation, "shell"),
  make: (invocation) =>
    scriptsOf(
      valueAfter(invocation, "--eval").map((word) => ({
        ...word,
        text: /\$\(shell ([^)]*)\)/.exec(word.text)?.[1] ?? "",
      })),
    ),
  expect: (invocation) =>
    scriptsOf(
      valueAfter(invocation, "-c").map((word) => ({
        ...word,
        text: word.text.replace(/^\s*(?:spawn|exec|system)\s+/, ""),
      })),
    ),
  sed: (invocation) =>
    scriptsOf(
      operands(invocation)
        .slice(0, 1)
        .flatMap((word) => {
          const shell = /(?:^|[;\n\d$}])e\s+([^;\n]+)|\/e$/.exec(word.text);
          return shell?.[1] ? [{ ...word, text: shell[1] }] : [];
        }),
    ),
};

function awkInner(invocation: Invocation): Inner {
  const program = operands(invocation)[0];
  return program ? { commands: [], scripts: [{ language: "awk", text: program, positional: [] }] } : NOTHING;
}
