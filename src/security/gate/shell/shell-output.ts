// Computes the output of simple pipelines such as `echo … | base64 -d`, which are used to hide commands.
import { basename, dirname, resolve } from "node:path";
import { type Invocation, programName, UNKNOWN } from "./shell-types.ts";
import { decodeAnsiC } from "./shell-words.ts";

const MAX_TEXT = 100_000;

/** The output of commands connected by pipes; undefined when it depends on the machine. */
export function staticOutput(commands: readonly Invocation[], cwd: string): string | undefined {
  let text: string | undefined;
  for (const command of commands) {
    text = stage(command, text, cwd);
    if (text === undefined || text.length > MAX_TEXT) return undefined;
  }
  return text;
}

function stage(command: Invocation, input: string | undefined, cwd: string): string | undefined {
  const program = programName(command);
  const args = command.args.map((word) => word.text);
  if (args.some((arg) => arg.includes(UNKNOWN))) return undefined;
  const stdin = command.stdin?.text ?? input;
  switch (program) {
    case "echo":
      return echoText(args);
    case "printf":
      return printfText(args);
    case "pwd":
      return command.cwd || cwd;
    case "cd":
    case "true":
    case ":":
      return "";
    case "dirname":
    case "basename":
    case "realpath":
    case "readlink":
      return pathText(program, args.filter((arg) => !arg.startsWith("-"))[0], command.cwd || cwd);
    case "which":
    case "command":
    case "type":
      return args.filter((arg) => !arg.startsWith("-")).pop();
    case "cat":
    case "tee":
      return args.length === 0 || args[0] === "-" ? stdin : undefined;
    case "base64":
      return args.some((arg) => /^(?:-[dD]i?|-id|--decode)$/.test(arg)) ? decode(stdin, "base64") : undefined;
    case "xxd":
      return args.some((arg) => /^-(?:r|rp|p?r|r-p)/.test(arg)) ? decode(stdin?.replace(/\s+/g, ""), "hex") : undefined;
    case "rev":
      return stdin
        ?.split("\n")
        .map((line) => [...line].reverse().join(""))
        .join("\n");
    case "tr":
      return args.length === 2 && stdin !== undefined ? translate(stdin, args[0] ?? "", args[1] ?? "") : undefined;
    default:
      return undefined;
  }
}

function pathText(program: string, path: string | undefined, cwd: string): string | undefined {
  if (path === undefined) return undefined;
  if (program === "dirname") return dirname(path);
  return program === "basename" ? basename(path) : resolve(cwd, path);
}

function decode(text: string | undefined, encoding: "base64" | "hex"): string | undefined {
  return text === undefined || text.includes(UNKNOWN) ? undefined : Buffer.from(text.trim(), encoding).toString("utf8");
}

function echoText(args: readonly string[]): string {
  let from = 0;
  let escapes = false;
  while (/^-[neE]+$/.test(args[from] ?? "")) escapes ||= (args[from++] ?? "").includes("e");
  const text = args.slice(from).join(" ");
  return escapes ? decodeAnsiC(text) : text;
}

function printfText(args: readonly string[]): string {
  const [format = "", ...values] = args[0] === "--" ? args.slice(1) : args;
  let next = 0;
  const filled = decodeAnsiC(format).replace(/%[-+ 0-9.]*([sbdxoc%q])/g, (_whole, kind) => {
    if (kind === "%") return "%";
    const value = values[next++] ?? "";
    if (kind === "b") return decodeAnsiC(value);
    return kind === "x" ? Number(value).toString(16) : value;
  });
  return next < values.length ? [filled, ...values.slice(next)].join("") : filled;
}

function translate(text: string, from: string, to: string): string {
  const source = ranges(from);
  const target = ranges(to);
  return [...text]
    .map((char) => {
      const at = source.indexOf(char);
      return at === -1 ? char : (target[Math.min(at, target.length - 1)] ?? "");
    })
    .join("");
}

function ranges(set: string): string[] {
  const named = set.replaceAll("[:lower:]", "a-z").replaceAll("[:upper:]", "A-Z");
  return [
    ...named.replace(/(.)-(.)/g, (_whole, low: string, high: string) => {
      let all = "";
      for (let code = low.charCodeAt(0); code <= high.charCodeAt(0) && all.length < 256; code++)
        all += String.fromCharCode(code);
      return all;
    }),
  ];
}
