// A real terminal for tests: the program runs in a pseudo-terminal, its output is drawn by a VT emulator.
import { spawn } from "@lydell/node-pty";
import headless from "@xterm/headless";
import { workspaceEnv } from "./home-workspace.ts";
import { hermesProgram } from "./run-hermes.ts";

export interface TestTerminal {
  /** What a user sees: the lines of the screen without trailing blanks. */
  screen(): string;
  /** The part of it that fits the window, without what scrolled away. */
  window(): string;
  /** Everything that was written, control sequences included. */
  raw(): string;
  type(text: string): void;
  resize(columns: number, rows: number): void;
  /** Row and column of the cursor in the window, from 0. */
  cursor(): { readonly row: number; readonly column: number };
  readonly pid: number;
  /** Waits until the screen shows the text. */
  shows(text: string | RegExp, timeoutMs?: number): Promise<void>;
  exited: Promise<number>;
  signal(name: string): void;
  kill(): void;
}

export function openTerminal(
  args: readonly string[],
  options: {
    home: string;
    /** Where the program starts; the home when absent. */
    cwd?: string;
    columns?: number;
    rows?: number;
    env?: { readonly [name: string]: string };
    /** The program's standard output is a pipe, whose end writes to the terminal. */
    pipedOutput?: boolean;
  },
): TestTerminal {
  const cols = options.columns ?? 100;
  const rows = options.rows ?? 40;
  const emulator = new headless.Terminal({ cols, rows, allowProposedApi: true, scrollback: 50_000 });
  const command = [process.execPath, hermesProgram(), ...args];
  const [program = "", ...rest] = options.pipedOutput ? ["/bin/sh", "-c", '"$0" "$@" | cat', ...command] : command;
  const cwd = options.cwd ?? options.home;
  const child = spawn(program, rest, {
    cols,
    rows,
    cwd,
    env: {
      ...workspaceEnv(options.home, cwd),
      PATH: process.env.PATH ?? "",
      HOME: options.home,
      HERMES_HOME: options.home,
      TERM: "xterm-256color",
      ...options.env,
    },
  });
  let written = "";
  child.onData((data) => {
    written += data;
    emulator.write(data);
  });
  // Answers to the program's questions about the terminal.
  emulator.onData((data) => child.write(data));
  const exited = new Promise<number>((resolve) => child.onExit(({ exitCode }) => resolve(exitCode)));
  const linesFrom = (first: number) => {
    const lines: string[] = [];
    const { active } = emulator.buffer;
    for (let index = first; index < active.length; index++)
      lines.push(active.getLine(index)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
  };
  const screen = () => linesFrom(0);
  return {
    screen,
    window: () => linesFrom(emulator.buffer.active.baseY),
    raw: () => written,
    type: (text) => child.write(text),
    resize: (columns, height) => {
      emulator.resize(columns, height);
      child.resize(columns, height);
    },
    cursor: () => ({ row: emulator.buffer.active.cursorY, column: emulator.buffer.active.cursorX }),
    pid: child.pid,
    shows: async (text, timeoutMs = 20_000) => {
      const until = Date.now() + timeoutMs;
      const there = () => (typeof text === "string" ? screen().includes(text) : text.test(screen()));
      while (!there()) {
        if (Date.now() > until) throw new Error(`the screen never showed ${String(text)}:\n${screen()}`);
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    },
    exited,
    signal: (name) => child.kill(name),
    kill: () => child.kill("SIGKILL"),
  };
}
