// Starts the interactive conversation: on the full screen, or in the plain mode.
import type { App } from "../app/app.ts";
import type { ConversationOptions } from "../core/conversation.ts";
import type { Home } from "../core/home.ts";
import type { Human } from "../core/human.ts";
import type { Terminal } from "../lib/terminal/terminal.ts";
import type { ChatUi } from "./chat-ui.ts";
import { ChatSession } from "./session.ts";

declare const __HERMES_VERSION__: string;

export interface InteractiveOptions {
  readonly home: Home;
  readonly terminal: Terminal;
  readonly app: App;
  /** Show what tools report while they run. */
  readonly verbose: boolean;
  /** Linear output without cursor movement. */
  readonly plain: boolean;
  /** Builds the options of a conversation with this user. */
  options(human: Human): Promise<ConversationOptions>;
}

/** The variable that programs share to ask for output for screen readers. */
function isAccessible({ env }: Home): boolean {
  return /^(?:1|true|yes|on)$/i.test(env.ACCESSIBLE ?? "");
}

function wantsPlain({ terminal, plain, home }: InteractiveOptions): boolean {
  return plain || !terminal.interactive || home.env.TERM === "dumb" || isAccessible(home);
}

async function openUi(options: InteractiveOptions): Promise<ChatUi> {
  const { app, terminal, verbose } = options;
  if (wantsPlain(options)) {
    const { PlainUi } = await import("./plain/plain-ui.ts");
    return new PlainUi({ app, terminal, verbose, labels: isAccessible(options.home) });
  }
  const { openScreenUi } = await import("./screen/screen-ui.ts");
  return openScreenUi({ app, terminal, verbose, version: __HERMES_VERSION__ });
}

/** Runs the interactive conversation until the user leaves; returns the exit code. */
export async function interact(options: InteractiveOptions): Promise<number> {
  const { terminal, app } = options;
  const session = new ChatSession({ app, ui: await openUi(options), options: options.options });
  const code = await session.run();
  const id = await session.storedSession();
  if (id) terminal.out(terminal.style("dim", `Resume with: hermes -r ${id}`));
  return code;
}
