// Folds constants in code: fills in variables, joins strings, builds paths, and writes the home as `~`.
import { backwards, unescaped } from "./decode.ts";
import { unmasked } from "./views.ts";

const TEXT = `(?:"((?:[^"\\\\\\n]|\\\\.)*)"|'((?:[^'\\\\\\n]|\\\\.)*)')`;
/** `"a" + "b"`, `"a" . "b"`, `"a""b"`, `"a" <> "b"`. */
const JOINED = new RegExp(`${TEXT}(?:\\s*(?:\\+|\\.(?![\\w.])|<>)\\s*|(?=["']))${TEXT}`, "g");
/** `"a" / "b"` of path libraries. */
const SLASHED = new RegExp(`${TEXT}\\s*/\\s*\\(?${TEXT}\\)?`, "g");
/** An unknown argument: a call or a name. */
const ANY = `(?:${TEXT}|[A-Za-z_$][\\w.$]*(?:\\(\\s*\\))?)`;
const LIST = `\\s*(?:${TEXT}\\s*,?\\s*)+`;
const LIST_JOIN = new RegExp(`[\\[(](${LIST})[\\])]\\s*\\.?\\s*-?join\\s*\\(?\\s*${TEXT}\\s*\\)?`, "g");
const JOIN_LIST = new RegExp(`${TEXT}\\s*\\.join\\(\\s*[\\[(](${LIST})[\\])]\\s*\\)`, "g");
const PATH_CALL = new RegExp(
  `(?:(?:(?:os\\.)?(?:file)?path\\.(?:[jJ]oin|resolve)|File\\.join|(?<![.\\w])join|(?<![.\\w])resolve|(?<![.\\w])Path|catfile)\\s*\\(|Join-Path\\s)(\\s*${ANY}(?:\\s*,?\\s*${ANY})*)\\s*\\)?`,
  "g",
);
const JOIN_PATH = new RegExp(`${TEXT}\\.joinpath\\(\\s*${TEXT}\\s*\\)`, "g");
const REVERSED = [
  new RegExp(`${TEXT}\\s*\\[::-1\\]`, "g"),
  new RegExp(`${TEXT}\\.split\\(\\s*["']{2}\\s*\\)\\.reverse\\(\\)(?:\\.join\\(\\s*["']{2}\\s*\\))?`, "g"),
  new RegExp(`(?:["']{2}\\.join\\(\\s*)?reversed\\(\\s*${TEXT}\\s*\\)\\)?`, "g"),
  new RegExp(`${TEXT}\\.reverse\\b(?:\\(\\))?|strrev\\(\\s*${TEXT}\\s*\\)|\\breverse\\s+${TEXT}`, "g"),
];
const REMOVED = new RegExp(
  `${TEXT}\\s*\\.(?:replace(?:All)?|gsub|delete)\\(\\s*${TEXT}\\s*(?:,\\s*["']{2}\\s*)?\\)|${TEXT}\\s+-replace\\s+${TEXT}\\s*(?:,\\s*["']{2})?`,
  "g",
);
const HOME_CALL =
  /(?:os\.)?path\.expanduser\(\s*["']~["']\s*\)|(?:pathlib\.)?Path\.home\(\)|Path\(\s*["']~["']\s*\)\.expanduser\(\)|\b(?:os\.)?homedir\(\)|require\(\s*["'](?:node:)?os["']\s*\)\.homedir\(\)|\bDir\.home\b|process\.env(?:\.HOME|\[\s*["']HOME["']\s*\])|os\.environ(?:\[\s*["']HOME["']\s*\]|\.get\(\s*["']HOME["'][^)]*\))|os\.getenv\(\s*["']HOME["']\s*\)|\bENV\[\s*["']HOME["']\s*\]|\$ENV\{\s*["']?HOME["']?\s*\}|\$env:(?:USERPROFILE|HOME)\b|File\.expand_path\(\s*["']~["']\s*\)/g;
const HOME_IN_TEXT =
  /\$\{\s*(?:os\.)?homedir\(\)\s*\}|\$\{?HOME\}?(?!\w)|%USERPROFILE%|\{\s*(?:Path\.home\(\)|home)\s*\}/g;

const texts = (list: string): string[] =>
  [...list.matchAll(new RegExp(TEXT, "g"))].map((match) => match[1] ?? match[2] ?? "");
const quoted = (text: string): string => (text.includes('"') ? `'${text}'` : `"${text}"`);
const either = (groups: readonly (string | undefined)[]): string => groups.find((group) => group !== undefined) ?? "";

/** One round of folding; returns the same text when nothing changes. */
function joinWords(line: string): string {
  if (!/["']/.test(line)) return line;
  let text = line;
  for (const pattern of REVERSED)
    text = text.replaceAll(pattern, (...found: (string | undefined)[]) => quoted(backwards(either(found.slice(1, 7)))));
  text = text
    .replaceAll(REMOVED, (raw, ...found: (string | undefined)[]) => {
      const from = either(found.slice(0, 2)) || either(found.slice(4, 6));
      const gone = either(found.slice(2, 4)) || either(found.slice(6, 8));
      return from === "" || gone === "" || from.length < 4 ? raw : quoted(from.replaceAll(gone, ""));
    })
    .replaceAll(LIST_JOIN, (...found: (string | undefined)[]) =>
      quoted(texts(found[1] ?? "").join(either(found.slice(4, 6)))),
    )
    .replaceAll(JOIN_LIST, (...found: (string | undefined)[]) =>
      quoted(texts(found[3] ?? "").join(either(found.slice(1, 3)))),
    )
    .replaceAll(JOIN_PATH, (...found: (string | undefined)[]) =>
      quoted(`${either(found.slice(1, 3))}/${either(found.slice(3, 5))}`),
    )
    .replaceAll(PATH_CALL, (raw, list: string) => {
      const parts = texts(list);
      return parts.length === 0 ? raw : quoted((/^\s*["']/.test(list) ? parts : ["?", ...parts]).join("/"));
    })
    .replaceAll(JOINED, (...found: (string | undefined)[]) =>
      quoted(`${either(found.slice(1, 3))}${either(found.slice(3, 5))}`),
    )
    .replaceAll(SLASHED, (...found: (string | undefined)[]) =>
      quoted(`${either(found.slice(1, 3))}/${either(found.slice(3, 5))}`),
    )
    .replaceAll(/(?<=[=+(,/[]\s*)\(\s*("[^"\n]*"|'[^'\n]*')\s*\)/g, "$1");
  return text;
}

const ASSIGNMENT = new RegExp(
  `^\\s*(?:(?:const|let|var|my|local|our|export|readonly|declare|set|typeset)\\s+(?:-\\w+\\s+)?)?[$@]?([A-Za-z_]\\w{0,40})\\s*(?::\\s*\\w+\\s*)?(\\+?=|\\.=)\\s*(?:${TEXT}|([^\\s"'$(){}\\[\\];|&<>]+))\\s*(?:;|$|#|//|&&)`,
);

type Variables = Map<string, string>;

function remember(line: string, variables: Variables): void {
  // Shells allow several assignments on a line.
  for (const part of line.split(/;(?=\s*\w+=)/)) {
    const match = ASSIGNMENT.exec(part);
    if (!match) continue;
    const [, name = "", sign, double, single, bare] = match;
    const value = double ?? single ?? bare ?? "";
    if (value.length > 400 || (bare !== undefined && /^\d+$|^(?:true|false|null|None|undefined)$/.test(bare))) continue;
    variables.set(name, sign === "=" ? value : `${variables.get(name) ?? ""}${value}`);
  }
}

/** `{name}` in a text that a quote opened before it. */
function fillTemplates(line: string, variables: Variables): string {
  const quote = line.search(/["'`]/);
  if (quote < 0 || !line.includes("{", quote)) return line;
  return line.replaceAll(/\{([A-Za-z_]\w*)\}/g, (raw, name: string, at: number) =>
    at > quote ? (variables.get(name) ?? raw) : raw,
  );
}

function filled(line: string, variables: Variables): string {
  if (variables.size === 0) return line;
  let text = line;
  if (/[$#]/.test(text))
    text = text.replaceAll(
      /\$\{([A-Za-z_]\w*)\}|#\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)(?!\s*=[^=])/g,
      (raw, ...names: (string | undefined)[]) => variables.get(either(names.slice(0, 3))) ?? raw,
    );
  text = fillTemplates(text, variables);
  if (!/[(,+=/[&.]|\bjoin\s/.test(text)) return text;
  return text.replaceAll(
    /(?<=[(,+=/[&.]\s*|\bjoin\s)([A-Za-z_]\w*)(?=\s*(?:[),+;\]/]|\.\s|$))/g,
    (raw, name: string) => {
      const value = variables.get(name);
      return value === undefined ? raw : quoted(value);
    },
  );
}

/** Names that are often obfuscated with wildcards. */
const WILD = [
  ".ssh",
  ".aws",
  ".gnupg",
  ".kube",
  ".netrc",
  ".env",
  "/usr/bin/curl",
  "/bin/curl",
  "/usr/bin/wget",
  "/bin/bash",
  "/bin/sh",
  "/usr/bin/nc",
  "/bin/nc",
  "/bin/cat",
];

function withoutWildcards(line: string): string {
  return line.replaceAll(/(?<=^|[\s"'/=;|&(])(?:\.|\/[\w?*[\]]+\/)[\w?*[\]/-]*[?*[][\w?*[\]/-]*/g, (token) => {
    if (/^\.\*+$/.test(token) || !/[a-z]/i.test(token)) return token;
    const pattern = token
      .replaceAll(/[.+^${}()|\\]/g, "\\$&")
      .replaceAll("?", "[^/]")
      .replaceAll("*", "[^/]*");
    try {
      const wild = new RegExp(`^${pattern}$`);
      return WILD.find((name) => wild.test(name)) ?? token;
    } catch {
      // Unbalanced brackets: not a wildcard.
      return token;
    }
  });
}

function foldLine(line: string, variables: Variables): string {
  let text = unmasked(unescaped(line)).replaceAll(HOME_CALL, '"~"').replaceAll(HOME_IN_TEXT, "~");
  text = withoutWildcards(text).replaceAll(/["']~["'](?=\/)/g, "~");
  for (let round = 0; round < 6; round++) {
    const next = joinWords(filled(text, variables));
    if (next === text || next.length > 8_000) break;
    text = next;
  }
  remember(text, variables);
  return text.replaceAll(/(?<=\w)["']{2}(?=\w)/g, "");
}

/** The folded lines, the same number as before. Long lines are not changed. */
export function foldLines(lines: readonly string[]): string[] {
  const variables: Variables = new Map();
  return lines.map((line) => (line.length > 2_000 ? line : foldLine(line, variables)));
}
