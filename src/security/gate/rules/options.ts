// Rules for options, variables and builtins that make a program run another one or delete its input.

import { runningVariables } from "../shell/run-environment.ts";
import { argTexts, hasFlag, type Invocation, operands, programName } from "../shell/shell-types.ts";
import { nonEmpty, paths, type ShellRule } from "./rule.ts";

/** All arguments, one per line. */
const joined = (invocation: Invocation): string => argTexts(invocation).join("\n");

/** The arguments and the known standard input of a program. */
function programInput(invocation: Invocation): string {
  const fed = invocation.upstream.map((command) => argTexts(command).join(" "));
  return [joined(invocation), invocation.stdin?.text ?? "", ...fed].join("\n").slice(0, 50_000);
}

/** Options that contain a program or code, by program. */
const RUNNING_OPTIONS: readonly [RegExp, RegExp][] = [
  [/^(?:ssh|scp|sftp|rsync)$/, /^-o\n?\s*(?:proxycommand|localcommand|knownhostscommand|permitlocalcommand)/im],
  [/^(?:scp|sftp)$/, /^-S/m],
  [/^(?:gcc|cc|g\+\+|c\+\+|clang|clang\+\+)$/, /^-wrapper/m],
  [
    /^(?:npm|npx|pnpm|yarn)$/,
    /^--script-shell|^(?:set|set\n.*)\n?script-shell|^config\nset\nscript-shell|^pkg\nset\nscripts\./m,
  ],
  [
    /^g?make$/,
    /^-[A-Za-z]*f\n?(?:-|\/dev\/(?:stdin|fd\/.*)|\/proc\/self\/fd\/.*)$|^--(?:make)?file=(?:-|\/dev\/)|^--eval/m,
  ],
  [
    /^(?:vi|vim|nvim|ex|view|gvim|vimdiff)$/,
    /^(?:-c|--cmd|\+.*)\n?.*(?:!|delete\(|system|writefile|\bexe|\bpy|\blua|\bso|\bw)|^-[sS]\n/m,
  ],
  [/^(?:vi|vim|nvim|ex|view)$/, /^\+.*(?:!|delete\(|system|writefile|\bexe|\bpy|\blua|\bso|\bw)/m],
  [
    /^gdb$/,
    /^(?:-ex|-eval-command|-x|-iex).*\n?.*(?:shell|python|py|system|call|pipe|!|source|make)\b|^--?(?:command|x)=/m,
  ],
  [/^emacs\w*$/, /shell|delete-|process|write-region|load/],
  [/^(?:compgen|complete)$/, /^-[A-Za-z]*C/m],
  [/^curl$/, /^(?:-K|--config)[\n=]?(?:-$|\/dev\/)/m],
  [/^bind$/, /^-[A-Za-z]*x/m],
  [/^(?:ba|z|k)?sh$/, /^--(?:rcfile|init-file)/m],
  [/^run-parts$/, /^(?!--(?:test|list|help|version))[^-]/m],
  [/^python[\d.]*$/, /^-m\n(?:timeit|pdb|code|runpy|profile|cProfile|trace)\n/m],
  [/^(?:lldb|rr|perf)$/, /^(?:-o|--one-line|-O)\n.*(?:shell|script|platform)/m],
  [/^(?:tclsh[\d.]*|wish|expect|guile|scheme|gforth|erl|julia|Rscript|r)$/i, /^-(?:c|e|-eval)/m],
  [/^ghostscript$|^gs$/, /^-dNOSAFER/m],
];

/** Programs whose own command language can start a shell, from arguments or standard input. */
const COMMAND_LANGUAGES: readonly [RegExp, RegExp][] = [
  [/^sqlite3?$/, /(?:^|["'\n;\s])\.(?:shell|system|load)\b|\bload_extension\s*\(|\bedit\s*\(/m],
  [/^(?:psql|mysql|mariadb)$/, /\\!|\bsystem\s|\bcopy\b[^;]*\bprogram\b/i],
  [/^ed$|^red$/, /(?:^|\n|\\n|\s|')!|^[erw]\s*!/m],
  [/^gdb$/, /^\s*(?:shell|!|python|pipe|make)\b/m],
  [/^(?:bc|dc)$/, /(?:^|\s)!/m],
];

/** Interpreters whose language is not analysed: code on their standard input is unknown. */
const OPAQUE = /^(?:tclsh[\d.]*|wish|expect|guile|scheme|gforth|erl|julia|r|ghci|ocaml|swift|irb|jshell)$/;

const SUBSCRIPT = /\[[^\]]*(?:\$\(|`)/;
const EVALUATES = /^(?:test|\[|\[\[|printf|unset|declare|typeset|local|export|readonly|let|read|mapfile|wait)$/;

/** The operands of tar, relative to the folder of `-C`. */
function tarTargets(invocation: Invocation): string[] {
  const texts = argTexts(invocation);
  const at = texts.findIndex((text) => text === "-C" || text === "--directory");
  const folder = at === -1 ? "" : `${texts[at + 1]}/`;
  return operands(invocation)
    .map((word) => word.text)
    .filter((text) => text !== texts[at + 1])
    .map((text) => (text.startsWith("/") ? text : folder + text));
}

export const OPTION_RULES: readonly ShellRule[] = [
  {
    id: "run_environment",
    category: "execution",
    level: "dangerous",
    reason: "sets a variable that makes other programs run something",
    match: (invocation) => nonEmpty(runningVariables(invocation)),
  },
  {
    id: "run_option",
    category: "execution",
    level: "dangerous",
    reason: "makes a program run another one",
    match: (invocation) => {
      const program = programName(invocation);
      const text = joined(invocation);
      const named = RUNNING_OPTIONS.some(([name, option]) => name.test(program) && option.test(text));
      const input = () =>
        COMMAND_LANGUAGES.some(([name, order]) => name.test(program) && order.test(programInput(invocation)));
      const opaque = OPAQUE.test(program) && (invocation.stdin !== undefined || invocation.upstream.length > 0);
      return named || opaque || input() ? [program] : null;
    },
  },
  {
    id: "hidden_program",
    category: "unreadable",
    level: "dangerous",
    reason: "redefines a program name, so that later commands cannot be checked",
    match: (invocation) =>
      (invocation.name.text === "hash" && hasFlag(invocation, "p")) ||
      (invocation.name.text === "enable" && hasFlag(invocation, "f")) ||
      invocation.assigned.some((name) => /^BASH_(?:ALIASES|CMDS)/.test(name))
        ? ["names"]
        : null,
  },
  {
    id: "subscript_code",
    category: "execution",
    level: "dangerous",
    reason: "hides a command in the index of a variable",
    match: (invocation) =>
      EVALUATES.test(invocation.name.text) &&
      [...argTexts(invocation), ...Object.values(invocation.values ?? {})].some((text) => SUBSCRIPT.test(text ?? ""))
        ? ["index"]
        : null,
  },
  {
    id: "delete_packed",
    category: "deletion",
    level: "dangerous",
    reason: "deletes the files that it packs or copies",
    programs: ["tar", "zip", "bsdtar", "7z", "cpio", "rsync"],
    match: (invocation, host) => {
      const texts = argTexts(invocation);
      const zip = programName(invocation) === "zip" && hasFlag(invocation, "m", "--move");
      const removes = texts.some((text) => /^--(?:remo\w*|del\w*|remove-\w*)|^-sdel$/.test(text));
      if ((!zip && !removes) || hasFlag(invocation, "", "--dry-run")) return null;
      return paths(
        tarTargets(invocation).map((text) => ({ text, dynamic: false })),
        invocation,
        host,
      );
    },
  },
];
