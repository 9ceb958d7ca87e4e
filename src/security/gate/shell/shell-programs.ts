// Finds commands inside the options of specific programs: editors, git, find, ssh, archivers.
import type { CodeLanguage } from "../analyse-code.ts";
import { environmentCommands } from "./run-environment.ts";
import { sedEffects } from "./sed-script.ts";
import { staticOutput } from "./shell-output.ts";
import { argTexts, type Invocation, operands, UNKNOWN, type Word } from "./shell-types.ts";

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

export const NOTHING: Inner = { commands: [], scripts: [] };

/** A copy of the invocation with another command. */
export function withCommand(outer: Invocation, words: readonly Word[]): Invocation {
  const [name = { text: "", dynamic: false }, ...args] = words;
  return { ...outer, name, args, redirects: outer.redirects };
}

export function shellScript(text: Word | undefined, positional: readonly Word[] = []): Inner {
  return text ? { commands: [], scripts: [{ language: "shell", text, positional }] } : NOTHING;
}

export function joinWords(words: readonly Word[]): Word {
  const text = words.map((word) => word.text).join(" ");
  return { text, dynamic: text.includes(UNKNOWN) };
}

/** The script on standard input, when its text is known. */
export function stdinScripts(invocation: Invocation, language: InnerScript["language"]): Inner {
  if (invocation.stdin) return { commands: [], scripts: [{ language, text: invocation.stdin, positional: [] }] };
  const fed = [...invocation.args, ...invocation.redirects.map(({ target }) => target)].flatMap(
    (word) => word.inner ?? [],
  );
  const source = fed.length > 0 ? fed : invocation.upstream;
  const text = source.length > 0 ? staticOutput(source, invocation.cwd) : undefined;
  if (text === undefined) return NOTHING;
  return { commands: [], scripts: [{ language, text: { text, dynamic: text.includes(UNKNOWN) }, positional: [] }] };
}

/** Values of options: the next word, the text after `=` (long names may be abbreviated), or the rest of the word (`-c'…'`). */
export function valueAfter(invocation: Invocation, ...flags: string[]): Word[] {
  return invocation.args.flatMap((word, index) => {
    const next = invocation.args[index + 1];
    const [name = "", ...rest] = word.text.split("=");
    const long =
      name.startsWith("--") && flags.some((flag) => flag === name || (name.length > 4 && flag.startsWith(name)));
    if (long && rest.length > 0) return [{ text: rest.join("="), dynamic: word.dynamic }];
    if ((long || flags.includes(word.text)) && next) return [next];
    const short = flags.find((flag) => flag.length === 2 && flag !== "--" && word.text.startsWith(flag));
    return short && word.text.length > 2 ? [{ text: word.text.slice(2).replace(/^=/, ""), dynamic: word.dynamic }] : [];
  });
}

/** Commands in variables of the invocation. */
export function environmentScripts(invocation: Invocation): readonly InnerScript[] {
  return asShellScripts(environmentCommands(invocation).map((text) => ({ text, dynamic: false }))).scripts;
}

export function asShellScripts(words: readonly Word[]): Inner {
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
    commands.push(withCommand(invocation, words));
    at = end;
  }
  return { commands, scripts: [] };
}

function found(roots: readonly Word[]): Word[] {
  const bases = roots.length > 0 ? roots : [{ text: ".", dynamic: false }];
  return bases.map((root) => ({ text: `${root.text.replace(/\/$/, "")}/${UNKNOWN}`, dynamic: true }));
}

/** The command that a remote shell would run, checked as if it ran locally. */
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
  return asShellScripts(rest.length > 0 ? [joinWords(rest), ...inner] : inner);
}

/** Settings whose value git runs as a command. */
const GIT_COMMANDS =
  /^(?:alias\.|pager\.|core\.(?:sshcommand|pager|editor|askpass|gitproxy)|sequence\.editor|gpg\.|credential\.|filter\.|merge\..*driver|(?:diff|difftool|mergetool|browser|man|tar|interactive|receive|uploadpack)\.?.*(?:command|cmd|external|textconv|path|difffilter|packobjectshook))/i;

/** Commands that git would run: from options, settings, and `foreach` or `bisect run`. */
function gitInner(invocation: Invocation): Inner {
  const settings = valueAfter(invocation, "-c").map((word) => word.text);
  const texts = argTexts(invocation);
  const config = texts.includes("config") ? [`${texts[texts.length - 2]}=${texts[texts.length - 1]}`] : [];
  const scripts = [...settings, ...config].flatMap((setting) => {
    const [key = "", ...value] = setting.split("=");
    const text = value.join("=");
    if (/^alias\./i.test(key) && !text.startsWith("!")) return [];
    return GIT_COMMANDS.test(key) ? [text.replace(/^!/, "")] : [];
  });
  const after = (word: string): Word[] => {
    const at = texts.indexOf(word);
    return at > 0 ? [joinWords(invocation.args.slice(at + 1).filter(({ text }) => text !== "--recursive"))] : [];
  };
  const verb = texts.find((text) => /^[a-z][a-z-]+$/.test(text)) ?? "";
  const flags = ["--exec", "--tree-filter", "--index-filter", "--msg-filter", "--upload-pack", "--receive-pack"];
  const named = valueAfter(invocation, ...flags, "--open-files-in-pager", "--extcmd", "--command");
  const short = texts.includes("grep")
    ? valueAfter(invocation, "-O")
    : texts.some((text) => /^(?:difftool|rebase)$/.test(text))
      ? valueAfter(invocation, "-x")
      : /^(?:clone)$/.test(verb) || texts.includes("clone")
        ? valueAfter(invocation, "-u")
        : [];
  const own = scripts.map((text) => ({ text, dynamic: text.includes(UNKNOWN) }));
  const run = texts.includes("bisect") ? texts.indexOf("run") : -1;
  const bisect = run > 0 ? [withCommand(invocation, invocation.args.slice(run + 1))] : [];
  const { scripts: inner } = asShellScripts([...own, ...named, ...short, ...after("foreach")]);
  return { commands: bisect, scripts: inner };
}

function viInner(invocation: Invocation): Inner {
  const commands = [
    ...valueAfter(invocation, "-c", "--cmd", "-ex", "-eval-command"),
    ...invocation.args.filter((word) => word.text.startsWith("+")),
  ];
  return asShellScripts(
    commands.flatMap((word) => {
      const shell =
        /(?:^|[:|+\s])(?:!|(?:silent!?\s*)?!|call\s+system\(['"]?|shell\s+|py3?\s+import os;?\s*os\.system\(['"]?)(.+)/s.exec(
          word.text,
        );
      return shell ? [{ text: shell[1]?.replace(/['"]\)\s*$/, "") ?? "", dynamic: word.dynamic }] : [];
    }),
  );
}

/** How to find the commands inside an invocation, by program. */
export const SPECIAL: { readonly [program: string]: (invocation: Invocation) => Inner } = {
  eval: (invocation) => {
    const script = joinWords(invocation.args);
    return script.text.trim() === UNKNOWN ? NOTHING : shellScript(script);
  },
  source: (invocation) => stdinScripts(invocation, "shell"),
  ".": (invocation) => stdinScripts(invocation, "shell"),
  mapfile: (invocation) => asShellScripts(valueAfter(invocation, "-C")),
  readarray: (invocation) => asShellScripts(valueAfter(invocation, "-C")),
  osascript: (invocation) =>
    asShellScripts(
      valueAfter(invocation, "-e").flatMap((word) => {
        const shell = /do shell script\s+"((?:[^"\\]|\\.)*)"/.exec(word.text);
        return shell ? [{ text: shell[1] ?? "", dynamic: word.dynamic }] : [];
      }),
    ),
  su: (invocation) => asShellScripts(valueAfter(invocation, "-c", "--command")),
  script: (invocation) => asShellScripts(valueAfter(invocation, "-c", "--command")),
  watch: (invocation) => shellScript(joinWords(operands(invocation).filter((word) => !/^[\d.]+$/.test(word.text)))),
  trap: (invocation) => shellScript(operands(invocation)[0]),
  alias: (invocation) =>
    asShellScripts(
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
    asShellScripts(
      valueAfter(invocation, "--eval").map((word) => ({
        ...word,
        text: /shell-command "([^"]*)"/.exec(word.text)?.[1] ?? "",
      })),
    ),
  awk: (invocation) => awkInner(invocation),
  gawk: (invocation) => awkInner(invocation),
  mawk: (invocation) => awkInner(invocation),
  tar: (invocation) =>
    asShellScripts(
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
  rsync: (invocation) => asShellScripts(valueAfter(invocation, "-e", "--rsh")),
  npx: (invocation) => asShellScripts(valueAfter(invocation, "-c", "--call")),
  tmux: (invocation) =>
    asShellScripts(
      operands(invocation)
        .slice(1)
        .filter((word) => /\s/.test(word.text)),
    ),
  screen: (invocation) => ({ commands: [withCommand(invocation, operands(invocation))], scripts: [] }),
  socat: (invocation) =>
    asShellScripts(
      invocation.args.flatMap((word) =>
        /^(?:exec|system):/i.test(word.text)
          ? [{ ...word, text: word.text.replace(/^\w+:/, "").split(",")[0] ?? "" }]
          : [],
      ),
    ),
  at: (invocation) => stdinScripts(invocation, "shell"),
  batch: (invocation) => stdinScripts(invocation, "shell"),
  make: (invocation) =>
    asShellScripts(
      valueAfter(invocation, "--eval").map((word) => ({
        ...word,
        text: /\$\(shell ([^)]*)\)/.exec(word.text)?.[1] ?? "",
      })),
    ),
  expect: (invocation) =>
    asShellScripts(
      valueAfter(invocation, "-c").map((word) => ({
        ...word,
        text: word.text.replace(/^\s*(?:spawn|exec|system)\s+/, ""),
      })),
    ),
  sed: sedInner,
  gsed: sedInner,
  split: (invocation) => asShellScripts(valueAfter(invocation, "--filter")),
  sort: (invocation) => asShellScripts(valueAfter(invocation, "--compress-program")),
  man: (invocation) => asShellScripts(valueAfter(invocation, "-P", "--pager")),
  zip: (invocation) => asShellScripts(valueAfter(invocation, "-TT", "--unzip-command")),
  npm: (invocation) => asShellScripts(valueAfter(invocation, "-c", "--call")),
  scp: sshOptions,
  sftp: sshOptions,
  compgen: (invocation) => asShellScripts(valueAfter(invocation, "-C")),
};

function sshOptions(invocation: Invocation): Inner {
  return asShellScripts(
    valueAfter(invocation, "-o")
      .filter((word) => /^(?:proxycommand|localcommand)/i.test(word.text))
      .map((word) => ({ ...word, text: word.text.replace(/^\w+[= ]/, "") })),
  );
}

/** The scripts of a sed call: the values of `-e`, or the first operand. */
export function sedScripts(invocation: Invocation): Word[] {
  const given = valueAfter(invocation, "-e", "--expression", "-ne", "-nEe", "-Ee", "-re");
  return given.length > 0 ? given : operands(invocation).slice(0, 1);
}

function sedInner(invocation: Invocation): Inner {
  return asShellScripts(
    sedScripts(invocation).flatMap((word) =>
      sedEffects(word.text).runs.map((text) => ({ text: text || UNKNOWN, dynamic: text === "" })),
    ),
  );
}

function awkInner(invocation: Invocation): Inner {
  const given = valueAfter(invocation, "-e", "--source");
  const values = new Set(valueAfter(invocation, "-F", "-v", "--assign", "--field-separator").map((word) => word.text));
  const program = given[0] ?? operands(invocation).find((word) => !values.has(word.text));
  return program ? { commands: [], scripts: [{ language: "awk", text: program, positional: [] }] } : NOTHING;
}
