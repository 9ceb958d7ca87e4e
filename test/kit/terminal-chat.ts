// An interactive conversation in a real terminal with a scripted model, for tests.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type FakeLlm, startFakeLlm, text } from "../servers/fake-llm.ts";
import type { Reply } from "../servers/fake-llm-replies.ts";
import { type TempHome, tempHome } from "./temp-home.ts";
import { openTerminal, type TestTerminal } from "./terminal.ts";

/** A reply, or a promise that the test resolves when the model should answer. */
export type ScriptedReply = Reply | Promise<Reply>;

export interface TerminalChat {
  readonly home: TempHome;
  readonly llm: FakeLlm;
  readonly screen: TestTerminal;
  /** Texts of the user messages in the newest request, without titles and other side calls. */
  userTexts(): string[];
  close(): Promise<void>;
}

export interface ChatOptions {
  readonly config?: string;
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: { readonly [name: string]: string };
  /** A folder of the home that comes first in PATH. */
  readonly pathFirst?: string;
  readonly pipedOutput?: boolean;
  /** The plain mode instead of the full screen. */
  readonly plain?: boolean;
  /** The program starts in this folder of the home, which is created. */
  readonly folder?: string;
  readonly args?: readonly string[];
  readonly prepare?: (home: string) => unknown;
}

/** Titles are asked for in the background; they get their own answer so that scripts stay simple. */
export async function openChat(script: readonly ScriptedReply[], options: ChatOptions = {}): Promise<TerminalChat> {
  const rest = [...script];
  const home = tempHome();
  const llm = await startFakeLlm({
    script: (request) => (request.tools.length === 0 ? text("A title") : (rest.shift() ?? text("nothing left"))),
  });
  home.useModel(llm, options.config);
  options.prepare?.(home.path);
  const env = options.pathFirst ? { PATH: `${join(home.path, options.pathFirst)}:${process.env.PATH ?? ""}` } : {};
  const args = [...(options.plain ? ["--plain"] : []), ...(options.args ?? [])];
  const cwd = join(home.path, options.folder ?? "");
  mkdirSync(cwd, { recursive: true });
  const screen = openTerminal(args, {
    cwd,
    home: home.path,
    ...options,
    env: { ...options.env, ...env },
  });
  await screen.shows("❯");
  return {
    home,
    llm,
    screen,
    userTexts: () =>
      (llm.requests.filter((request) => request.tools.length > 0).at(-1)?.messages ?? [])
        .filter((message) => message.role === "user")
        .map((message) => message.text),
    close: async () => {
      screen.kill();
      await screen.exited;
      await llm.close();
      home.remove();
    },
  };
}

/** A reply that waits for the test. */
export function heldReply(reply: Reply): { readonly promise: Promise<Reply>; release(): void } {
  let release: () => void = () => undefined;
  const promise = new Promise<Reply>((resolve) => {
    release = () => resolve(reply);
  });
  return { promise, release };
}
