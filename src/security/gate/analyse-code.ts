// Finds by pattern what programs in Python, JavaScript, Perl, Ruby, PHP and awk run, delete, write and obfuscate.
import type { Category, Effect, Level } from "./effects.ts";
import { isCredentialFile, isDisk, isGuardedFile, isSystemPath, isVital } from "./rules/vital-paths.ts";
import { type ShellEnvironment, UNKNOWN } from "./shell/shell-types.ts";
import { absolutePath } from "./shell/shell-walk.ts";

export interface CodeFindings {
  readonly effects: Effect[];
  /** Shell scripts that the program would run. */
  readonly scripts: string[];
  /** Commands given as lists of words. */
  readonly commands: string[][];
}

export type CodeLanguage = "python" | "javascript" | "perl" | "ruby" | "php" | "awk";

/** Only this many characters of a program are analysed. */
export const MAX_CODE = 200_000;
const LITERAL =
  /(?:[rRbBuU]{0,2})("""[\s\S]{0,20000}?"""|'''[\s\S]{0,20000}?'''|"(?:[^"\\\n]|\\.){0,20000}"|'(?:[^'\\\n]|\\.){0,20000}'|`(?:[^`\\]|\\.){0,20000}`)/y;

/** Calls that pass text to a shell or start a program. */
const RUNS =
  /\b(?:os\.(?:system|popen|exec[lv]p?e?|spawn[lv]p?e?|posix_spawn)|subprocess\.(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput)|commands\.getoutput|os\.execute|io\.popen|pty\.spawn|asyncio\.create_subprocess_(?:shell|exec)|(?:child_process\.|cp\.|\b)(?:exec|execSync|execFile|execFileSync|spawn|spawnSync|fork)|execa(?:\.command)?|Bun\.spawn|Deno\.Command|system|popen|shell_exec|passthru|proc_open|Open3\.\w+|IO\.popen|Kernel\.\w+|qx)\s*\(\s*/g;
const DELETES =
  /\b(?:shutil\.rmtree|os\.(?:remove|unlink|rmdir|removedirs|truncate)|(?:fs|fsp|promises|fsPromises)\.(?:rm|rmSync|rmdir|rmdirSync|unlink|unlinkSync|truncate|truncateSync)|(?<!\w)(?:rmSync|rmdirSync|unlinkSync|truncateSync|rmtree)|(?<![.\w])(?:unlink|rmdir)|FileUtils\.(?:rm|rm_r|rm_rf|remove_dir)|File\.delete|Dir\.rmdir|Deno\.remove(?:Sync)?|rimraf(?:\.sync)?|send2trash|removeSync|emptyDirSync)\s*\(\s*/g;
const PATH_DELETES = /\bPath\s*\(\s*(["'][^"'\n]{0,500}["'])\s*\)[\w.()/"' ]{0,120}\.(?:unlink|rmdir)\s*\(/g;
const WRITES =
  /\b(?:open|io\.open|codecs\.open|(?:fs|fsp|promises|fsPromises)\.(?:writeFile|writeFileSync|appendFile|appendFileSync|createWriteStream|copyFile|copyFileSync|rename|renameSync|symlink|symlinkSync|chmod|chmodSync)|writeFileSync|appendFileSync|shutil\.(?:copy|copy2|copyfile|move)|os\.(?:rename|replace|symlink|link|chmod|chown)|file_put_contents|File\.write|Path)\s*\(\s*/g;
const OBFUSCATIONS: readonly [RegExp, string][] = [
  [/\b(?:exec|eval)\s*\(\s*(?!["'`][^"'`]*["'`]\s*\))/, "runs code that is built at run time"],
  [
    /\b(?:exec|eval|compile)\s*\([^)]{0,200}(?:b64decode|fromhex|decompress|decode\(|atob|unhexlify|Buffer\.from|chr\()/,
    "runs encoded code",
  ],
  [
    /__import__\s*\(|importlib\.import_module\s*\(\s*(?!["'])|getattr\s*\(\s*(?:os|subprocess|shutil|builtins|__builtins__|sys\.modules)|globals\s*\(\)\s*\[|__builtins__|vars\s*\(\s*os\s*\)/,
    "accesses modules indirectly",
  ],
  [
    /\bctypes\b|\bmarshal\.loads|\bpickle\.loads\s*\(\s*(?:base64|bytes|b64)|\bnew\s+Function\s*\(|\bvm\.run|process\.binding|\brequire\s*\(\s*(?!["'`])|\bimport\s*\(\s*(?!["'`])/,
    "loads code indirectly",
  ],
  [
    /\b(?:os|subprocess|shutil)\s*\.\s*__dict__|\[\s*["']\w{1,12}["']\s*\+|\brequire\s*\([^)]{0,80}\)\s*\[/,
    "builds the name of a function at run time",
  ],
  [
    /\[\s*["'](?:execSync|exec|spawn|spawnSync|rmSync|system|popen|rmtree|unlink)["']\s*\]/,
    "calls a function indirectly",
  ],
];
const RENAMED_IMPORTS =
  /\bfrom\s+(?:os|subprocess|shutil)\s+import\s+(?:[\w, ]+\s+as\s+|\*)|\bimport\s+(?:os|subprocess|shutil|pty)\s+as\s+(\w+)/;

function literalAt(code: string, at: number): { text: string; end: number } | null {
  LITERAL.lastIndex = at;
  const match = LITERAL.exec(code);
  if (!match) return null;
  const raw = match[1] ?? "";
  const quotes = raw.startsWith('"""') || raw.startsWith("'''") ? 3 : 1;
  const body = raw.slice(quotes, -quotes);
  const text = body
    .replace(/\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})/g, (_whole, hex, unicode) =>
      String.fromCharCode(Number.parseInt(hex ?? unicode, 16)),
    )
    .replace(/\\n/g, "\n")
    .replace(/\\t/g, "\t")
    .replace(/\\(.)/g, "$1")
    .replace(/\$\{[^}]*\}/g, UNKNOWN);
  const formatted =
    /^[a-zA-Z]*[fF]/.test(code.slice(match.index - 1, match.index + 1)) ||
    /[fF]$/.test(code.slice(Math.max(0, match.index - 1), match.index));
  return { text: formatted ? text.replace(/\{[^}]*\}/g, UNKNOWN) : text, end: LITERAL.lastIndex };
}

/** The first argument of a call: a string, a list of strings, or unknown. Strings joined with `+` are concatenated. */
function argumentAt(code: string, at: number): { texts: string[]; list: boolean; known: boolean } {
  let position = at;
  const list = code[position] === "[" || code[position] === "(";
  if (list) position++;
  const texts: string[] = [];
  let known = true;
  for (let count = 0; count < 64; count++) {
    position += /^\s*/.exec(code.slice(position, position + 200))?.[0].length ?? 0;
    if (/^[fF]["']/.test(code.slice(position, position + 2))) position++;
    const literal = literalAt(code, position);
    if (!literal) {
      const name = /^(?:sys\.executable|process\.execPath)\b/.exec(code.slice(position, position + 40));
      if (name) {
        texts.push("python-or-node");
        position += name[0].length;
      } else {
        known =
          texts.length > 0 && !list
            ? /^\s*[),]/.test(code.slice(position, position + 20))
            : /^\s*[\])]/.test(code.slice(position, position + 20));
        break;
      }
    } else {
      texts.push(literal.text);
      position = literal.end;
    }
    const glue = /^\s*(,\s*\[|\+|,)?/.exec(code.slice(position, position + 200));
    position += glue?.[0].length ?? 0;
    if (glue?.[1]?.startsWith("+") && !list) {
      const next = literalAt(code, position + (/^\s*/.exec(code.slice(position, position + 200))?.[0].length ?? 0));
      if (!next) return { texts, list, known: false };
      texts[texts.length - 1] += next.text;
      position = next.end;
    } else if (!glue?.[1]) break;
  }
  return { texts, list, known };
}

class CodeReader {
  readonly findings: CodeFindings = { effects: [], scripts: [], commands: [] };
  readonly #code: string;
  readonly #host: ShellEnvironment;

  constructor(code: string, host: ShellEnvironment) {
    this.#code = code;
    this.#host = host;
  }

  add(
    rule: string,
    place: { category: Category; level: Level },
    reason: string,
    targets: readonly string[] = [],
  ): void {
    this.findings.effects.push({ rule, ...place, reason, targets });
  }

  read(): CodeFindings {
    for (const match of this.#code.matchAll(RUNS)) this.#runs(match[0], match.index + match[0].length);
    for (const match of this.#code.matchAll(DELETES))
      this.#deletes(match[0], argumentAt(this.#code, match.index + match[0].length).texts);
    for (const match of this.#code.matchAll(PATH_DELETES)) this.#deletes("unlink(", [match[1]?.slice(1, -1) ?? ""]);
    for (const match of this.#code.matchAll(WRITES)) this.#writes(match[0], match.index + match[0].length);
    for (const match of this.#code.matchAll(/`([^`\n]{2,2000})`|\bqx\s*[{(/|]([^})/|\n]{2,2000})/g))
      this.#backticks(match[1] ?? match[2] ?? "");
    for (const [pattern, why] of OBFUSCATIONS)
      if (pattern.test(this.#code)) this.add("hidden_code", { category: "execution", level: "dangerous" }, why);
    if (
      RENAMED_IMPORTS.test(this.#code) &&
      /\b(?:system|popen|rmtree|remove|unlink|Popen|run|call|spawn)\b/.test(this.#code)
    )
      this.add(
        "hidden_code",
        { category: "execution", level: "dangerous" },
        "renames functions that run programs or delete files",
      );
    this.#paths();
    return this.findings;
  }

  #runs(call: string, at: number): void {
    const { texts, list, known } = argumentAt(this.#code, at);
    const first = texts[0];
    // `pattern.exec(text)` in JavaScript is a regular expression search.
    if (
      /(?<!child_process\.|cp\.)\bexec\s*\(\s*$/.test(call) &&
      first === undefined &&
      /[\w\])/]\.$/.test(this.#code.slice(Math.max(0, at - call.length - 2), at - call.length))
    )
      return;
    if (first === undefined) {
      this.add(
        "run_unknown",
        { category: "execution", level: "dangerous" },
        "starts a program that is only known at run time",
      );
      return;
    }
    if (list || (texts.length > 1 && !/\s/.test(first))) {
      this.findings.commands.push(known ? texts : [...texts, UNKNOWN]);
      if (texts.length > 1 || !known) return;
    }
    this.findings.scripts.push(first);
    if (!known && !list)
      this.add(
        "run_unknown",
        { category: "execution", level: "dangerous" },
        "starts a program that is only known at run time",
      );
  }

  #backticks(text: string): void {
    if (/\$\{|=>|^\s*$/.test(text) || !/^\s*(?:rm|sh|bash|curl|wget|dd|mkfs|chmod|kill|sudo|cat)\b/.test(text)) return;
    this.findings.scripts.push(text);
  }

  #deletes(call: string, texts: readonly string[]): void {
    const targets = texts.slice(0, 1).map((text) => absolutePath(text, this.#host.cwd, this.#host));
    const tree = /rmtree|rmSync|rm_r|removedirs|rimraf|remove_dir|Deno\.remove|\brm\b|emptyDir/.test(call);
    if (texts[0] !== undefined && isVital(texts[0], this.#host.cwd, this.#host)) {
      this.add(
        "delete_vital",
        { category: "deletion", level: "hardline" },
        "deletes the system or the home directory",
        targets,
      );
      return;
    }
    const outside = targets.some((path) => !path.startsWith(this.#host.cwd) && !path.startsWith("/tmp/"));
    const level = tree || targets.length === 0 || outside ? "dangerous" : "note";
    this.add(
      tree ? "delete_recursive" : "delete_file",
      { category: "deletion", level },
      "deletes files or folders",
      targets,
    );
  }

  #writes(call: string, at: number): void {
    const { texts } = argumentAt(this.#code, at);
    if (
      /\b(?:open|Path)\s*\($/.test(call.trimEnd()) &&
      !/["'][rb]*[wax+]|write_text|write_bytes|touch\(|symlink_to|rename\(/.test(this.#code.slice(at, at + 400))
    )
      return;
    const pathOf = (text: string): string => absolutePath(text, this.#host.cwd, this.#host);
    for (const path of texts.slice(0, 2).map(pathOf)) {
      if (isDisk(path)) this.add("write_disk", { category: "disk", level: "hardline" }, "writes to a raw disk", [path]);
      else if (isSystemPath(path) || isGuardedFile(path, this.#host))
        this.add("write_guarded", { category: "protected_file", level: "dangerous" }, "changes a protected file", [
          path,
        ]);
    }
  }

  /** Reports string literals that name a credential file or a protected file. */
  #paths(): void {
    const strings = this.#code.matchAll(/["'`]([^"'`\n]{3,300})["'`]/g);
    for (const [, text = ""] of strings) {
      if (!/^[~/.]|\.(?:ssh|env|aws|netrc|hermes|bashrc|zshrc|gnupg)/.test(text)) continue;
      const path = absolutePath(
        text.startsWith(".") && !/^\.{1,2}\//.test(text) ? `~/${text}` : text,
        this.#host.cwd,
        this.#host,
      );
      if (isCredentialFile(path, this.#host))
        this.add("read_credentials", { category: "credentials", level: "dangerous" }, "reads keys or passwords", [
          path,
        ]);
      else if (
        isGuardedFile(path, this.#host) &&
        /write|append|['"][wa]\+?b?['"]|copy|move|rename|unlink|remove/.test(this.#code)
      )
        this.add("write_guarded", { category: "protected_file", level: "dangerous" }, "changes a protected file", [
          path,
        ]);
    }
  }
}

const AWK_RUNS = /\bsystem\s*\(\s*"((?:[^"\\]|\\.)*)"|"((?:[^"\\]|\\.)*)"\s*\|\s*getline|\|\s*"((?:[^"\\]|\\.)*)"/g;

/** The effects of a program, found by pattern. */
export function codeEffects(language: CodeLanguage, source: string, host: ShellEnvironment): CodeFindings {
  const code = source.slice(0, MAX_CODE);
  // These languages allow calls without parentheses: normalise them.
  const loose = language === "perl" || language === "ruby" || language === "php";
  const called = loose ? code.replace(/\b(system|exec|unlink|rmtree|rmdir|popen)\s+(?=["'[])/g, "$1(") : code;
  if (language !== "awk") return new CodeReader(called, host).read();
  const reader = new CodeReader("", host);
  for (const match of code.matchAll(AWK_RUNS))
    reader.findings.scripts.push((match[1] ?? match[2] ?? match[3] ?? "").replace(/\\(.)/g, "$1"));
  if (/\bsystem\s*\(\s*[^")\s]/.test(code))
    reader.add(
      "run_unknown",
      { category: "execution", level: "dangerous" },
      "starts a program that is only known at run time",
    );
  return reader.findings;
}
