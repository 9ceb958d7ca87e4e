// Walks a parsed script and lists every simple command that it may run, with expanded words and connected pipes.
import { join, resolve } from "node:path";
import { staticOutput } from "./shell-output.ts";
import type { ParseShell, ShellNode } from "./shell-parser.ts";
import { type Invocation, programName, type ShellEnvironment, UNKNOWN, type Word } from "./shell-types.ts";
import { expandText, expandWords, type WordScope } from "./shell-words.ts";

const MAX_INVOCATIONS = 3_000;
const MAX_CALL_DEPTH = 6;
const MAX_LOOP_VALUES = 8;
const MAX_NESTING = 120;

export interface WalkResult {
  readonly invocations: Invocation[];
  /** True when the grammar could not parse some parts. */
  broken: boolean;
  /** True when a limit of size, depth or time ended the walk. */
  exceeded: boolean;
  /** True when a function starts itself twice. */
  forkBomb: boolean;
}

export class ShellWalk {
  readonly result: WalkResult = { invocations: [], broken: false, exceeded: false, forkBomb: false };
  readonly #host: ShellEnvironment;
  readonly #parse: ParseShell;
  readonly #variables: Map<string, string | undefined>;
  readonly #functions = new Map<string, ShellNode>();
  #cwd: string;
  #depth = 0;
  #nesting = 0;
  readonly #deadline: number;
  readonly #scope: WordScope = {
    variable: (name) => this.#variable(name),
    output: (node) => this.#substitutionOutput(node),
    separators: () => (this.#variables.has("IFS") ? this.#variables.get("IFS") : ""),
  };

  constructor(
    host: ShellEnvironment,
    parse: ParseShell,
    variables: ReadonlyMap<string, string | undefined> = new Map(),
    deadline = Number.POSITIVE_INFINITY,
  ) {
    this.#deadline = deadline;
    this.#host = host;
    this.#parse = parse;
    this.#variables = new Map(variables);
    this.#cwd = host.cwd;
  }

  /** The variables at the end of the walk, for nested scripts. */
  get variables(): ReadonlyMap<string, string | undefined> {
    return this.#variables;
  }

  run(script: string): WalkResult {
    const root = this.#parse(script);
    if (!root) this.result.exceeded = true;
    else {
      this.result.broken = root.hasError;
      this.#visit(root);
    }
    return this.result;
  }

  #variable(name: string): string | undefined {
    if (this.#variables.has(name)) return this.#variables.get(name);
    if (name === "HOME") return this.#host.userHome;
    if (name === "HERMES_HOME") return this.#host.hermesHome;
    if (name === "PWD") return this.#cwd;
    if (name === "IFS") return " ";
    if (name === "PATH") return "/usr/local/bin:/usr/bin:/bin";
    if (name === "SHELL") return "/bin/bash";
    if (/^[!?#$]$/.test(name)) return `$${name}`;
    return undefined;
  }

  #substitutionOutput(node: ShellNode): string | undefined {
    const before = this.result.invocations.length;
    this.#isolated(node);
    return staticOutput(this.result.invocations.slice(before), this.#cwd);
  }

  /** Returns the commands that the node contributes to a pipeline. */
  #visit(node: ShellNode): Invocation[] {
    if (this.result.invocations.length > MAX_INVOCATIONS || performance.now() > this.#deadline) {
      this.result.exceeded = true;
      return [];
    }
    switch (node.type) {
      case "command":
        return this.#command(node);
      case "unset_command":
      case "declaration_command":
        return this.#declaration(node);
      case "variable_assignment":
        this.#bareAssignment(node);
        return [];
      case "redirected_statement":
        return this.#redirected(node);
      case "pipeline":
        return this.#pipeline(node, []);
      case "subshell":
        return this.#isolated(node);
      case "function_definition":
        this.#define(node);
        return [];
      case "for_statement":
        return this.#loop(node);
      // `$(<file)` has a redirection and no command.
      case "file_redirect":
        return this.#redirect(node, [this.#redirectionOnly()]);
      case "heredoc_body":
      case "comment":
        return node.type === "comment" ? [] : this.#children(node);
      default:
        return this.#children(node);
    }
  }

  /** Visits a node that runs in a separate process, so `cd` inside has no effect afterwards. */
  #isolated(node: ShellNode): Invocation[] {
    const cwd = this.#cwd;
    const commands = this.#children(node);
    this.#cwd = cwd;
    return commands;
  }

  #children(node: ShellNode): Invocation[] {
    const all: Invocation[] = [];
    if (this.#nesting >= MAX_NESTING) {
      this.result.exceeded = true;
      return all;
    }
    this.#nesting++;
    for (const child of node.children) {
      if (child.type === "&" && !child.isNamed) for (const last of all) last.background = true;
      if (child.isNamed) all.push(...this.#visit(child));
    }
    this.#nesting--;
    return all;
  }

  /** A bare `NAME=value`, which applies to the following commands. */
  #bareAssignment(node: ShellNode): void {
    const name = this.#assign(node);
    const empty: Word = { text: "", dynamic: false };
    const base = { name: empty, args: [], redirects: [], upstream: [], background: false };
    this.result.invocations.push({ ...base, cwd: this.#cwd, assigned: [name], values: this.#readValues([name]) });
  }

  #declaration(node: ShellNode): Invocation[] {
    const assigned = node.namedChildren
      .filter((child) => child.type === "variable_assignment")
      .map((child) => this.#assign(child));
    const name: Word = { text: node.children[0]?.text ?? "export", dynamic: false };
    const values = this.#readValues(assigned);
    // The value of a name reference (`declare -n`) is the name of another variable.
    const refers = node.namedChildren.some((child) => /^-[A-Za-z]*n/.test(child.text));
    if (refers) for (const variable of assigned) this.#variables.set(variable, undefined);
    const args = node.namedChildren
      .filter((child) => child.type !== "variable_assignment")
      .flatMap((child) => this.#word(child));
    this.result.invocations.push({
      name,
      values,
      args,
      redirects: [],
      upstream: [],
      cwd: this.#cwd,
      assigned,
      background: false,
    });
    return [];
  }

  #assign(node: ShellNode): string {
    const name = node.namedChildren[0];
    const value = node.namedChildren[1];
    if (!name) return "";
    const appended = node.children.some((child) => child.type === "+=");
    const text = value ? expandText(value, this.#scope) : "";
    const old = appended ? (this.#variable(name.text) ?? UNKNOWN) : "";
    const whole = old + text;
    this.#variables.set(
      name.text,
      value?.type === "array" ? arrayText(value, this.#scope) : whole.includes(UNKNOWN) ? undefined : whole,
    );
    return name.text;
  }

  #readValues(names: readonly string[]): { [name: string]: string | undefined } {
    return Object.fromEntries(names.map((name) => [name, this.#variables.get(name)]));
  }

  #word(node: ShellNode): Word[] {
    if (node.type !== "process_substitution") {
      const from = /^"?(?:\$\(|`)\s*([\w./-]+)/.exec(node.text.slice(0, 200))?.[1]?.split("/").pop();
      return expandWords(node, this.#scope).map((text) => ({
        text,
        dynamic: text.includes(UNKNOWN),
        from: from || undefined,
      }));
    }
    const inner = this.#isolated(node);
    // The input of `>(…)` is unknown.
    if (node.text.startsWith(">")) for (const command of inner) command.upstream = [unknownCommand(this.#cwd)];
    return [{ text: `/dev/fd/${UNKNOWN}`, dynamic: true, inner }];
  }

  #command(node: ShellNode): Invocation[] {
    const words: Word[] = [];
    const assigned: string[] = [];
    const redirects: ShellNode[] = [];
    let end = -1;
    for (const child of node.namedChildren) {
      if (child.type === "variable_assignment") assigned.push(this.#assign(child));
      else if (child.type.endsWith("_redirect")) redirects.push(child);
      else if (child.type !== "comment") {
        // Two adjacent words are one word for bash: the grammar misparsed them.
        if (child.startIndex === end) this.result.broken = true;
        end = child.endIndex;
        words.push(...this.#word(child));
      }
    }
    const [name = { text: "", dynamic: false }, ...args] = words;
    const invocation: Invocation = {
      name,
      args,
      values: assigned.length > 0 ? this.#readValues(assigned) : undefined,
      redirects: [],
      upstream: [],
      cwd: this.#cwd,
      assigned,
      background: false,
    };
    this.result.invocations.push(invocation);
    for (const redirect of redirects) this.#redirect(redirect, [invocation]);
    this.#applySideEffects(invocation);
    return [invocation];
  }

  /** Applies the effects of a command on the script: current folder, variables, function calls. */
  #applySideEffects(invocation: Invocation): void {
    const program = programName(invocation);
    const first = invocation.args.find((word) => !word.text.startsWith("-"));
    if ((program === "cd" || program === "pushd") && !first?.dynamic)
      this.#cwd = first
        ? resolve(this.#cwd, first.text.replace(/^~(?=\/|$)/, this.#host.userHome))
        : this.#host.userHome;
    if (program === "read" || program === "mapfile" || program === "readarray")
      for (const word of invocation.args) this.#variables.set(word.text, undefined);
    if (program === "set" && invocation.args[0]?.text === "--") this.#positional(invocation.args.slice(1));
    const body = this.#functions.get(invocation.name.text);
    if (!body || this.#depth >= MAX_CALL_DEPTH) return;
    this.#depth++;
    this.#positional(invocation.args);
    this.#visit(body);
    this.#depth--;
  }

  #positional(args: readonly Word[]): void {
    for (const [index, word] of args.entries())
      this.#variables.set(String(index + 1), word.dynamic ? undefined : word.text);
    const all = args.map((word) => word.text).join(" ");
    for (const name of ["@", "*"]) this.#variables.set(name, all.includes(UNKNOWN) ? undefined : all);
  }

  /** An empty command that carries redirections. */
  #redirectionOnly(): Invocation {
    const bare: Invocation = {
      name: { text: "", dynamic: false },
      args: [],
      redirects: [],
      upstream: [],
      cwd: this.#cwd,
      assigned: [],
      background: false,
    };
    this.result.invocations.push(bare);
    return bare;
  }

  #redirected(node: ShellNode): Invocation[] {
    const body = node.namedChildren.filter((child) => !child.type.endsWith("_redirect"));
    let commands = body.flatMap((child) => this.#visit(child));
    if (commands.length === 0) commands = [this.#redirectionOnly()];
    for (const child of node.namedChildren) {
      if (child.type.endsWith("_redirect")) commands = this.#redirect(child, commands);
    }
    return commands;
  }

  /** Attaches a redirection. A pipe may follow a here-document; its last commands are then returned. */
  #redirect(node: ShellNode, commands: Invocation[]): Invocation[] {
    const first = commands[0];
    const last = commands[commands.length - 1];
    if (node.type === "file_redirect") {
      const operator = node.children.find((child) => !child.isNamed)?.text ?? ">";
      const named = node.namedChildren.filter((child) => child.type !== "file_descriptor");
      for (const child of named)
        for (const target of this.#word(child))
          for (const command of commands) command.redirects.push({ operator, target });
      return commands;
    }
    if (node.type === "herestring_redirect") {
      const child = node.namedChildren[0];
      const text = child ? expandText(child, this.#scope) : "";
      if (last) last.stdin = { text, dynamic: text.includes(UNKNOWN) };
      return commands;
    }
    const body = node.namedChildren.find((child) => child.type === "heredoc_body");
    const literal = /^['"\\]/.test(node.namedChildren.find((child) => child.type === "heredoc_start")?.text ?? "");
    const text = body ? (literal ? body.text : expandText(body, this.#scope)) : "";
    if (first) first.stdin = { text, dynamic: text.includes(UNKNOWN) };
    let current = commands;
    for (const child of node.namedChildren) {
      if (child.type === "pipeline") current = this.#pipeline(child, current);
      else if (child.type === "file_redirect" || child.type === "herestring_redirect")
        current = this.#redirect(child, current);
      else if (!child.type.startsWith("heredoc") && child.type !== "file_descriptor") this.#visit(child);
    }
    return current;
  }

  #pipeline(node: ShellNode, before: readonly Invocation[]): Invocation[] {
    let upstream = [...before];
    let last: Invocation[] = [...before];
    for (const child of node.namedChildren) {
      const stage = this.#visit(child);
      for (const command of stage) command.upstream = [...upstream];
      upstream = [...upstream, ...stage];
      last = stage;
    }
    return last.length > 0 ? last : upstream;
  }

  #define(node: ShellNode): void {
    const name = node.namedChildren[0]?.text ?? "";
    const body = node.namedChildren[node.namedChildCount - 1];
    if (!body) return;
    const before = this.result.invocations.length;
    this.#visit(body);
    const calls = this.result.invocations.slice(before).filter((call) => call.name.text === name);
    if (calls.length >= 2 && calls.some((call) => call.upstream.length > 0 || call.background))
      this.result.forkBomb = true;
    this.#functions.set(name, body);
  }

  #loop(node: ShellNode): Invocation[] {
    const variable = node.namedChildren.find((child) => child.type === "variable_name")?.text ?? "";
    const body = node.namedChildren.find((child) => child.type === "do_group");
    const values = node.namedChildren
      .filter((child) => child !== body && child.type !== "variable_name" && child.type !== "do_group")
      .flatMap((child) => this.#word(child));
    if (!body) return this.#children(node);
    const known = values.length <= MAX_LOOP_VALUES ? values : [];
    const all: Invocation[] = [];
    for (const value of known.length > 0 ? known : [undefined]) {
      this.#variables.set(variable, value && !value.dynamic ? value.text : undefined);
      all.push(...this.#visit(body));
    }
    return all;
  }
}

function unknownCommand(cwd: string): Invocation {
  const name = { text: UNKNOWN, dynamic: true };
  return { name, args: [], redirects: [], upstream: [], cwd, assigned: [], background: false };
}

function arrayText(node: ShellNode, scope: WordScope): string | undefined {
  const text = node.namedChildren.map((child) => expandText(child, scope)).join(" ");
  return text.includes(UNKNOWN) ? undefined : text;
}

/** A path word as an absolute path; unknown parts stay in place. */
export function absolutePath(word: string, cwd: string, host: ShellEnvironment): string {
  if (word.startsWith(UNKNOWN)) return word;
  if (word === "~" || word.startsWith("~/")) return join(host.userHome, word.slice(1));
  const clean = word.replace(/^file:\/\//, "");
  const path = resolve(cwd, clean.replace(/^\/proc\/(?:self|\d+)\/root(?=\/|$)/, "") || "/");
  return path;
}
