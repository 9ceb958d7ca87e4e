// Strict rules for code on a command line or typed into an interpreter: code that is not clearly harmless needs approval.
import type { CodeFindings, CodeLanguage } from "./analyse-code.ts";
import type { Effect } from "./effects.ts";
import { isCredentialFile, isGuardedFile, isSystemPath, isVital } from "./rules/vital-paths.ts";
import type { ShellEnvironment } from "./shell/shell-types.ts";
import { absolutePath } from "./shell/shell-walk.ts";

/** Names that run, delete, write or hide something, anywhere in a program. */
const RISKY: { readonly [language in Exclude<CodeLanguage, "awk">]: RegExp } = {
  python:
    /\b(?:_?rmtree|unlink|rmdir|removedirs|subprocess|Popen|popen\w*|system|pty|ctypes|multiprocessing|concurrent|importlib\.(?!metadata)|runpy|marshal|pickle|shelve|__\w+__(?<!__name__|__version__|__file__|__doc__|__main__|__len__|__init__)|getattr|setattr|globals|locals|vars|eval|exec|execfile|(?<!\bre\.)compile|execv\w*|execl\w*|spawn\w*|posix_spawn\w*|fork\w*|kill\w*|symlink\w*|link_to|hardlink_to|chmod|chown|write_text|write_bytes|touch|truncate|urlretrieve|extractall|send2trash|timeit|pdb|code)\b/,
  javascript:
    /\b(?:child_process|vm|worker_threads|cluster|inspector|eval|Function|constructor|binding|dlopen|execa|shelljs|rimraf|fs-extra|Deno|Bun|process\.kill|process\[|createRequire|globalThis\[|spawn\w*|exec(?:Sync|File\w*)|rm(?:Sync|dir\w*)?\s*\(|unlink\w*)\b|\bimport\s*\(\s*(?!["'`])|\brequire\s*\(\s*(?!["'`])/,
  perl: /\b(?:system|exec|unlink|rmtree|remove_tree|rmdir|qx|fork|kill|eval|rename|truncate|symlink|chmod|chown|syscall|socket|do|require|POSIX|IPC|Expect)\b|`|\bopen\b(?!\s*\(?\s*(?:my\s+)?[$\w]+\s*,\s*["']<["']\s*,)|\|\s*["']|["']\s*\||s(\W)(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1\w*e|\bos\.(?!time|clock|date|getenv)|\bio\.(?:popen|open)|\b(?:loadstring|dofile|loadfile)\b/,
  ruby: /\b(?:system|exec|spawn|popen\w*|Open3|FileUtils|Pathname|eval|instance_eval|class_eval|send|public_send|__send__|method|fork|Process|Kernel|ObjectSpace|load|unlink|delete|rmdir|rename|truncate|symlink|chmod)\b|`|%x|File\.(?:write|open|new)|IO\.(?:write|binwrite|popen|sysopen)/,
  php: /\b(?:system|exec|shell_exec|passthru|popen|proc_open|pcntl_\w+|eval|assert|create_function|call_user_func\w*|unlink|rmdir|rename|file_put_contents|fopen|copy|symlink|chmod|mail|dl|include\w*|require\w*)\b|`|\$\w+\s*\(/,
};

/** Modules with access to files and programs; uses not listed as harmless need approval. */
const MODULES: { readonly [language: string]: RegExp } = {
  python: /\b(?:os|shutil|pathlib|Path|PurePath|PosixPath|tempfile|posix|nt|fileinput|zipfile|tarfile|glob2)\b/,
  javascript: /\bfs\b|fs\/promises|\bfsp\b/,
};
const HARMLESS_USES: { readonly [language: string]: RegExp } = {
  python:
    /\bos\.(?:path\.\w+|getcwd|environ|listdir|mkdir|makedirs|cpu_count|walk|stat|getpid|getppid|sep|name|uname|getenv|linesep|urandom|scandir|get_terminal_size|getlogin|getuid|access|[RWXF]_OK|fspath|getloadavg|sched_getaffinity)\b|\bshutil\.(?:which|disk_usage|get_terminal_size)\b|\btempfile\.gettempdir\b|\b(?:pathlib\.)?Path\s*\(|\b(?:pathlib\.)?Path\.(?:home|cwd)\b|\bfrom\s+pathlib\s+import\s+Path\b(?!\s+as)|\bfrom\s+os(?:\.path)?\s+import\s+(?:(?:path|getcwd|environ|listdir|getenv|sep|join|exists|isfile|isdir|basename|dirname)(?:\s*,\s*)?)+(?=[;\n]|$)|\b(?:zipfile|tarfile)\.(?:ZipFile|open|is_zipfile|is_tarfile)\s*\(\s*["'][^"']*["']\s*\)\.(?:namelist|getnames|printdir|testzip)|^\s*import\s+(?:(?!\bas\b)[\w., ])+(?=[;\n]|$)|\bsubprocess\.(?:run|check_output|check_call|call|Popen)\s*\(\s*\[(?:\s*["'][^"'\n]*["']\s*,?)+\]|\bsubprocess\.(?:PIPE|DEVNULL|STDOUT|CalledProcessError|TimeoutExpired)\b|(?<=[;\n])\s*import\s+(?:(?!\bas\b)[\w., ])+(?=[;\n]|$)/g,
  javascript:
    /\b(?:const|let|var)\s+fs\s*=\s*(?:require\(\s*["'`](?:node:)?fs["'`]\s*\))|\bimport\s+(?:\*\s+as\s+)?fs\s+from\s+["'](?:node:)?fs["']|(?:\bfs|require\(\s*["'`](?:node:)?fs["'`]\s*\))(?:\.promises)?\.(?:readFile|readFileSync|existsSync|readdir|readdirSync|stat|statSync|lstatSync|realpathSync|accessSync|constants)\b|(?:\bfs|require\(\s*["'`](?:node:)?fs["'`]\s*\))\.(?:writeFileSync|appendFileSync|mkdirSync)\(\s*(["'`])(?![~/.]|[^"'`]*\.\.)[^"'`$]+\1/g,
};

const HOME_WORDS = /Path\.home|expanduser|\bHOME\b|homedir\(|USERPROFILE|Dir\.home|\bglob\(/;
const WRITING = /["'][rbt]*[wax+][bt+]*["']|write|append|>>?["']?/;
const DELETES_TREES = /rmtree|remove_tree|rm_rf?|rimraf|rmSync|\brm\s*\(|removedirs|unlink|\bremove\b|rm\s+-/;
const LITERAL = /"((?:[^"\\\n]|\\.){1,2000})"|'((?:[^'\\\n]|\\.){1,2000})'/g;

function literals(code: string): string[] {
  return [...code.matchAll(LITERAL)].map((match) => (match[1] ?? match[2] ?? "").replace(/\\(.)/g, "$1"));
}

function effect(rule: string, category: Effect["category"], reason: string, targets: readonly string[] = []): Effect {
  return { rule, category, level: "dangerous", reason, targets };
}

function isUnclear(language: Exclude<CodeLanguage, "awk">, code: string): boolean {
  const rest = code.replace(HARMLESS_USES[language] ?? /$^/g, " ");
  if (RISKY[language].test(rest)) return true;
  return MODULES[language]?.test(rest) ?? false;
}

/** The arguments of a call, up to the closing parenthesis. */
function argumentsAt(code: string, from: number): string {
  let open = 1;
  for (let at = from; at < Math.min(code.length, from + 600); at++) {
    if (code[at] === "(") open++;
    if (code[at] === ")" && --open === 0) return code.slice(from, at);
  }
  return code.slice(from, from + 600);
}

/** True for calls like `open(folder + name, "w")`, whose file is only known at run time. */
function writesUnknown(code: string): boolean {
  return [...code.matchAll(/\bopen\s*\(/g)].some((match) => {
    const args = argumentsAt(code, match.index + match[0].length);
    return /,\s*(?:mode\s*=\s*)?["'][rbt]*[wax+]/.test(args) && !/^\s*[rbf]?(["'])[^"'\n]*\1\s*,/.test(args);
  });
}

function namedPaths(code: string, host: ShellEnvironment): Effect[] {
  const home = HOME_WORDS.test(code);
  return literals(code).flatMap((text): Effect[] => {
    const bare = text.replace(/^\/?(?=\.)/, "");
    const places = [text, ...(home || /\$ENV|ENV\[/.test(code) ? [`~/${bare.replace(/^.*?\/(?=\.)/, "")}`] : [])];
    const paths = places.map((place) => absolutePath(place, host.cwd, host));
    const secret = home && /^\.(?:ssh|hermes|aws|gnupg|netrc|kube|docker|config)$/.test(bare);
    if (secret || paths.some((path) => isCredentialFile(path, host)))
      return [effect("read_credentials", "credentials", "reads keys or passwords", paths.slice(-1))];
    const guarded = paths.some((path) => isGuardedFile(path, host) || isSystemPath(path));
    return guarded && WRITING.test(code)
      ? [effect("write_guarded", "protected_file", "changes a protected file", paths.slice(-1))]
      : [];
  });
}

/** Collects strings of unclear code that would be destructive if the code ran them or deleted the paths they name. */
function worstCase(code: string, host: ShellEnvironment, findings: CodeFindings): void {
  const texts = literals(code);
  findings.scripts.push(...texts.filter((text) => /\s/.test(text)));
  for (const [, list = ""] of code.matchAll(/[[(]\s*((?:["'][^"'\n]{1,200}["']\s*,?\s*){2,20})[\])]/g))
    findings.commands.push(literals(list));
  for (const [, list = ""] of code.matchAll(/\bqw\s*[({/[<|]([^)}/\]>|\n]{1,400})/g)) findings.scripts.push(list);
  const whole = /(?:expanduser\(\s*["']~["']\s*\)|Path\.home\(\)|homedir\(\)|\(\s*["']\/["'])\s*[,)]/.test(code);
  const vital = texts.find((text) => text.length > 1 && isVital(text, host.cwd, host) && /^[~/]/.test(text));
  if (DELETES_TREES.test(code) && (whole || vital !== undefined))
    findings.effects.push({
      rule: "delete_vital",
      category: "deletion",
      level: "hardline",
      reason: "deletes the system or the home directory",
      targets: [vital ?? host.userHome],
    });
}

const KILLS_ALL =
  /\bkill\s*\(?\s*(?:["']?\w+["']?\s*,\s*-1|-1\s*,)|\bfork\s+while\s+1|while\s*\(?\s*(?:1|True)\s*\)?\s*[:{]?\s*(?:os\.)?fork/;

/** Effects of code that is not clearly harmless. */
export function strictFindings(language: CodeLanguage, code: string, host: ShellEnvironment): CodeFindings {
  const findings: CodeFindings = { effects: [], scripts: [], commands: [] };
  if (language === "awk") return strictAwk(code, host, findings);
  findings.effects.push(...namedPaths(code, host));
  if (KILLS_ALL.test(code))
    findings.effects.push({
      rule: "kill_everything",
      category: "service",
      level: "hardline",
      reason: "kills every process or starts processes without limit",
      targets: [],
    });
  if (isUnclear(language, code)) {
    findings.effects.push(effect("unclear_code", "execution", "runs code that may start programs or change files"));
    worstCase(code, host, findings);
  } else if (writesUnknown(code))
    findings.effects.push(effect("unclear_code", "execution", "writes a file that is only known at run time"));
  return findings;
}

/** An awk program with its strings, regular expressions and comments blanked. */
function awkSyntax(code: string): string {
  return code
    .replace(/"(?:[^"\\]|\\.)*"/g, '""')
    .replace(/(^|[~(,{;&|!\s])\/(?:[^/\\\n]|\\.)*\//g, "$1//")
    .replace(/#.*/g, "");
}

function strictAwk(code: string, host: ShellEnvironment, findings: CodeFindings): CodeFindings {
  const syntax = awkSyntax(code);
  const piped = /(?<!\|)\|&?(?!\|)/.test(syntax);
  const unknown =
    (piped && /(?<!\|)\|&?(?!\|)\s*(?!""|getline|&)\S/.test(syntax)) ||
    /(?<!")\s*(?<!\|)\|&?\s*getline/.test(syntax.replace(/""\s*\|&?\s*getline/g, "")) ||
    /\bsystem\s*\(\s*(?!""\s*\))/.test(syntax) ||
    /@load|@include|\bextension\s*\(/.test(syntax);
  const shells = /\|&?\s*"\s*(?:\S*\/)?(?:ba|z|da|k|c)?sh\b|\|&?\s*"\s*(?:python|perl|ruby|node)/.test(code);
  if (unknown || shells) {
    findings.effects.push(effect("unclear_code", "execution", "starts programs that are only known at run time"));
    worstCase(code, host, findings);
  }
  for (const [, sign, text = ""] of code.matchAll(/(>>?|getline\s*\w*\s*<)\s*"((?:[^"\\]|\\.)*)"/g)) {
    const path = absolutePath(text, host.cwd, host);
    if (sign?.startsWith(">") && (isGuardedFile(path, host) || isSystemPath(path)))
      findings.effects.push(effect("write_guarded", "protected_file", "changes a protected file", [path]));
    if (!sign?.startsWith(">") && isCredentialFile(path, host))
      findings.effects.push(effect("read_credentials", "credentials", "reads keys or passwords", [path]));
  }
  return findings;
}
