// Parses config.yaml: a document that keeps comments, and a plain tree with positions.
import type { Document, ErrorCode, LineCounter, ParsedNode } from "yaml";
import type { ConfigWarning } from "../core/settings.ts";
import { mustBeUnique } from "./security-paths.ts";

/** The package is CommonJS: in a bundle, an import of it has only a default. */
const loadYaml = async () => (await import("yaml")).default;
type Yaml = Awaited<ReturnType<typeof loadYaml>>;
export type YamlDocument = Document.Parsed<ParsedNode>;

export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface ParsedYaml {
  readonly document: YamlDocument;
  /** The class for further documents; provided here because the package is loaded lazily. */
  readonly Document: Yaml["Document"];
  /** The plain tree; empty when the text is broken or not a map. */
  readonly tree: { readonly [key: string]: unknown };
  readonly problem: ConfigWarning | undefined;
  /** Duplicate keys outside security settings: the last one is used. */
  readonly warnings: readonly ConfigWarning[];
  /** The position of a key in the text. */
  locate(path: readonly string[]): Position | undefined;
}

/** Own messages: those of the parser may quote the line, which may contain a secret. */
const REASONS: Partial<Record<ErrorCode, string>> = {
  BAD_INDENT: "the indentation is inconsistent",
  TAB_AS_INDENT: "a tab is used for indentation; use spaces",
  MISSING_CHAR: "a quote, bracket, comma or colon is missing",
  BLOCK_AS_IMPLICIT_KEY: "a nested map starts on the line of its key",
  MULTILINE_IMPLICIT_KEY: "a key spans several lines; is a colon missing?",
  UNEXPECTED_TOKEN: "unexpected text",
  BAD_ALIAS: "a reference (*name) has no anchor",
  RESOURCE_EXHAUSTION: "it is nested too deeply",
  MULTIPLE_DOCS: "the file holds several documents (---)",
  BAD_DQ_ESCAPE: 'a backslash in "…" is not a known escape; use single quotes',
};

function plain(value: unknown): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (Array.isArray(value)) return value.map(plain);
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
  }
  return value;
}

function locator(yaml: Yaml, document: YamlDocument, lines: LineCounter) {
  return (path: readonly string[]): Position | undefined => {
    let node: unknown = document.contents;
    let offset: number | undefined;
    for (const key of path) {
      if (yaml.isMap(node)) {
        const pair = node.items.find((item) => String(yaml.isScalar(item.key) ? item.key.value : item.key) === key);
        if (!pair) break;
        if (yaml.isNode(pair.key)) offset = pair.key.range?.[0] ?? offset;
        node = pair.value;
      } else if (yaml.isSeq(node)) {
        node = node.items[Number(key)];
        if (yaml.isNode(node)) offset = node.range?.[0] ?? offset;
      } else break;
    }
    if (offset === undefined) return undefined;
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
}

function toTree(document: YamlDocument): { tree: { [key: string]: unknown }; reason?: string | undefined } {
  let value: unknown;
  try {
    value = plain(document.toJS());
  } catch {
    // The library throws for too many alias expansions.
    return { tree: {}, reason: "too many references (*name)" };
  }
  if (value === null || value === undefined) return { tree: {} };
  if (typeof value !== "object" || Array.isArray(value))
    return { tree: {}, reason: "it must be a map of keys and values" };
  return { tree: value as { [key: string]: unknown } };
}

interface DuplicateKey {
  readonly path: readonly string[];
  readonly offset: number;
  /** Inside a map with an anchor, which other keys may reference. */
  readonly shared: boolean;
}

/** Every key that occurs more than once in a map. */
function findDuplicateKeys(yaml: Yaml, document: YamlDocument): DuplicateKey[] {
  const found: DuplicateKey[] = [];
  const walk = (node: unknown, path: readonly string[], anchored: boolean) => {
    const shared = anchored || (yaml.isCollection(node) && node.anchor !== undefined);
    if (yaml.isSeq(node))
      for (const [index, item] of node.items.entries()) walk(item, [...path, String(index)], shared);
    if (!yaml.isMap(node)) return;
    const seen = new Set<string>();
    for (const { key, value } of node.items) {
      const name = String(yaml.isScalar(key) ? key.value : key);
      const place = [...path, name];
      if (seen.has(name) && name !== "<<")
        found.push({ path: place, offset: (yaml.isNode(key) && key.range?.[0]) || 0, shared });
      seen.add(name);
      walk(value, place, shared);
    }
  };
  walk(document.contents, [], false);
  return found;
}

const TOO_LARGE = "it is larger than 8 MB";
const MAX_CHARACTERS = 8 * 1024 * 1024;

function syntaxProblem(reason: string, place?: Position): ConfigWarning {
  const where = place ? `line ${place.line}, column ${place.column}: ` : "";
  return { kind: "syntax", path: "", message: `config.yaml cannot be read: ${where}${reason}`, ...place };
}

/** Reads YAML 1.1, as Hermes v0.14 does: `yes` and `off` are flags. Never throws; dates stay text, long ids stay exact. */
export async function parseYaml(text: string): Promise<ParsedYaml> {
  const yaml = await loadYaml();
  try {
    return parseWith(yaml, text.length > MAX_CHARACTERS ? "" : text, text.length > MAX_CHARACTERS);
  } catch (error) {
    // The parser recurses as deep as the text is nested.
    if (!(error instanceof RangeError)) throw error;
    return { ...parseWith(yaml, "", false), problem: syntaxProblem(REASONS.RESOURCE_EXHAUSTION ?? "") };
  }
}

function parseWith(yaml: Yaml, text: string, tooLarge: boolean): ParsedYaml {
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, {
    version: "1.1",
    intAsBigInt: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "silent",
    lineCounter: lines,
    customTags: (tags) => tags.filter((tag) => typeof tag === "string" || tag.tag !== "tag:yaml.org,2002:timestamp"),
  });
  const positionAt = (offset: number): Position => {
    const { line, col: column } = lines.linePos(offset);
    return { line, column };
  };
  const base = { document, Document: yaml.Document, locate: locator(yaml, document, lines), warnings: [] };
  if (tooLarge) return { ...base, tree: {}, problem: syntaxProblem(TOO_LARGE) };
  const error = document.errors[0];
  if (error) {
    const reason = REASONS[error.code] ?? "this is not valid YAML";
    return { ...base, tree: {}, problem: syntaxProblem(reason, positionAt(error.pos[0])) };
  }
  const twice = findDuplicateKeys(yaml, document);
  const unsafe = twice.find(({ path, shared }) => shared || mustBeUnique(path));
  if (unsafe) {
    const reason = `${unsafe.path.join(".")} is set twice; remove one of them`;
    return { ...base, tree: {}, problem: syntaxProblem(reason, positionAt(unsafe.offset)) };
  }
  const { tree, reason } = toTree(document);
  const warnings = twice.map(({ path, offset }): ConfigWarning => {
    const name = path.join(".");
    return {
      kind: "structure",
      path: name,
      message: `${name} is set twice; the last one is used`,
      ...positionAt(offset),
    };
  });
  return { ...base, tree, warnings, problem: reason === undefined ? undefined : syntaxProblem(reason) };
}
