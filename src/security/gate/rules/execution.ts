// Rules for code that is downloaded or only known at run time, and for destructive database commands.

import { staticOutput } from "../shell/shell-output.ts";
import { argTexts, hasFlag, type Invocation, operands, programName, UNKNOWN } from "../shell/shell-types.ts";
import { SHELLS, scriptOperand } from "../shell/shell-unwrap.ts";
import type { ShellRule } from "./rule.ts";

const INTERPRETER =
  /^(?:python|pypy|perl|ruby|node|nodejs|php|lua|deno|bun|Rscript|osascript|pwsh|powershell|tclsh|guile|xargs)[\d.]*$/;
const NETWORK = new Set([
  "curl",
  "wget",
  "fetch",
  "http",
  "https",
  "aria2c",
  "nc",
  "ncat",
  "netcat",
  "socat",
  "lynx",
  "ftp",
  "scp",
  "ssh",
]);
const CLIENTS = new Set([
  "psql",
  "mysql",
  "mariadb",
  "sqlite3",
  "sqlite",
  "mongosh",
  "mongo",
  "cockroach",
  "clickhouse-client",
  "duckdb",
  "sqlcmd",
  "bq",
  "snowsql",
  "redis-cli",
  "mysqladmin",
  "dropdb",
  "cqlsh",
]);

const isShell = (invocation: Invocation): boolean => SHELLS.has(programName(invocation));
const STDIN = /^(?:-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/;
const runsStdin = (invocation: Invocation): boolean => {
  const words = isShell(invocation)
    ? [scriptOperand(invocation)].filter((word) => word !== undefined)
    : operands(invocation);
  if (hasFlag(invocation, "", "--help", "--version")) return false;
  return (
    !argTexts(invocation).some((text) => /^-[A-Za-z]*[ce]$/.test(text)) &&
    (words.length === 0 || STDIN.test(words[0]?.text ?? "") || argTexts(invocation).includes("-s"))
  );
};

/** The whole input of a database client: its arguments and what is piped in. */
function clientInput(invocation: Invocation): string {
  const inner = invocation.redirects.flatMap(({ target }) => target.inner ?? []);
  const piped = [...invocation.upstream, ...inner].map((command) => argTexts(command).join(" "));
  return [...argTexts(invocation), invocation.stdin?.text ?? "", ...piped].join("\n").slice(0, 50_000);
}

function destroysData(sql: string): boolean {
  if (
    /\b(?:drop\s+(?:table|database|schema|index|view|user|role)|truncate\s+(?:table\s+)?\w|flushall|flushdb|dropDatabase|\.drop\()/i.test(
      sql,
    )
  )
    return true;
  return sql.split(";").some((statement) => /\bdelete\s+from\b/i.test(statement) && !/\bwhere\b/i.test(statement));
}

export const EXECUTION_RULES: readonly ShellRule[] = [
  {
    id: "pipe_to_shell",
    category: "execution",
    level: "dangerous",
    reason: "runs text from a pipe",
    legacy: ["pipe remote content to shell"],
    match: (invocation) => {
      const reads = isShell(invocation) || /^(?:source|\.)$/.test(programName(invocation));
      if (!reads || invocation.upstream.length === 0 || !runsStdin(invocation)) return null;
      const known = staticOutput(invocation.upstream, invocation.cwd);
      return known !== undefined &&
        !known.includes(UNKNOWN) &&
        !invocation.upstream.some((command) => /^(?:base64|xxd|rev|tr)$/.test(programName(command)))
        ? null
        : ["stdin"];
    },
  },
  {
    id: "pipe_to_interpreter",
    category: "execution",
    level: "dangerous",
    reason: "runs downloaded or hidden code",
    match: (invocation) => {
      if (!INTERPRETER.test(programName(invocation)) || programName(invocation) === "xargs" || !runsStdin(invocation))
        return null;
      const hides = invocation.upstream.some(
        (command) =>
          NETWORK.has(programName(command)) || /^(?:base64|xxd|openssl|gunzip|zcat|rev)$/.test(programName(command)),
      );
      return hides ? ["stdin"] : null;
    },
  },
  {
    id: "download_substitution",
    category: "execution",
    level: "dangerous",
    reason: "runs a script directly from the network",
    legacy: ["execute remote script via process substitution"],
    match: (invocation) => {
      if (
        !isShell(invocation) &&
        !/^(?:source|\.)$/.test(programName(invocation)) &&
        !INTERPRETER.test(programName(invocation))
      )
        return null;
      const words = [...invocation.args, ...invocation.redirects.map(({ target }) => target)];
      return words.some((word) => word.inner !== undefined) ? ["substitution"] : null;
    },
  },
  {
    id: "unknown_script",
    category: "execution",
    level: "dangerous",
    reason: "runs a script that is only known at run time",
    legacy: ["shell command via -c/-lc flag"],
    match: (invocation) => {
      const program = programName(invocation);
      if (program === "eval")
        return invocation.args.some((word) => word.dynamic) && !isKnownEval(invocation) ? ["eval"] : null;
      if (!isShell(invocation)) return null;
      const at = invocation.args.findIndex((word) => /^-[A-Za-z]*c[A-Za-z]*$/.test(word.text));
      const script = invocation.args.slice(at + 1).find((word) => !word.text.startsWith("-"));
      return at !== -1 && script?.text.trim().startsWith(UNKNOWN) ? ["script"] : null;
    },
  },
  {
    id: "open_descriptor",
    category: "execution",
    level: "dangerous",
    reason: "runs a script from a descriptor whose content is not known",
    match: (invocation) => {
      if (!isShell(invocation) && !/^(?:source|\.)$/.test(programName(invocation))) return null;
      const named = /^\/(?:dev|proc\/self)\/fd\/[1-9]/.test(
        (scriptOperand(invocation) ?? invocation.args[0])?.text ?? "",
      );
      const fed = invocation.redirects.some(
        ({ operator, target }) => operator.startsWith("<&") && /^\d/.test(target.text),
      );
      return named || fed ? ["descriptor"] : null;
    },
  },
  {
    id: "unknown_program",
    category: "execution",
    level: "dangerous",
    reason: "runs a program whose name is only known at run time",
    match: (invocation) =>
      (invocation.name.text.includes(UNKNOWN) && !/^[^/]*\/.+\/[\w.-]+$/.test(invocation.name.text)) ||
      /[*?]|\w\[|\[\w/.test(invocation.name.text)
        ? [invocation.name.text]
        : null,
  },
  {
    id: "reverse_shell",
    category: "execution",
    level: "dangerous",
    reason: "opens a shell to another machine",
    match: (invocation) => {
      const targets = invocation.redirects.map(({ target }) => target.text);
      const sockets = targets.some((text) => /^\/dev\/(?:tcp|udp)\//.test(text));
      const listens =
        /^(?:nc|ncat|netcat)$/.test(programName(invocation)) &&
        argTexts(invocation).some((text) => /^-[A-Za-z]*[ec]$|^--(?:exec|sh-exec)/.test(text));
      const socat =
        programName(invocation) === "socat" && argTexts(invocation).some((text) => /^(?:exec|system):/i.test(text));
      return sockets || listens || socat ? ["network"] : null;
    },
  },
  {
    id: "sql",
    category: "sql",
    level: "dangerous",
    reason: "destroys data in a database",
    legacy: ["SQL DROP", "SQL DELETE without WHERE", "SQL TRUNCATE"],
    match: (invocation) =>
      CLIENTS.has(programName(invocation)) &&
      (destroysData(clientInput(invocation)) || programName(invocation) === "dropdb")
        ? ["database"]
        : null,
  },
];

/** True for `eval "$(ssh-agent -s)"` and similar setup commands of well-known tools. */
function isKnownEval(invocation: Invocation): boolean {
  return invocation.args.every((word) =>
    /^(?:ssh-agent|direnv|pyenv|rbenv|nodenv|starship|zoxide|brew|opam|fnm|conda|mise|dircolors)$/.test(
      word.from ?? "",
    ),
  );
}
