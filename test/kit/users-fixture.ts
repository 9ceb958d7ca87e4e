// A gateway with an owner, two guests and an unknown user, and a model that makes the tool call which a message contains.
import { realpathSync, rmSync } from "node:fs";
import { calls, text } from "../servers/fake-llm.ts";
import type { FakeMessage } from "../servers/fake-telegram.ts";
import { type GatewayFixture, openGatewayFixture, type Script, texts } from "./gateway-fixture.ts";
import { tempDir } from "./temp-dir.ts";

export const OWNER = 501;
export const GUEST = 502;
export const OTHER = 503;
export const STRANGER = 999;
export const GROUP = { id: -70, type: "group", title: "Family" };
export const TOPIC = { chat: { id: -1_007, type: "supergroup", is_forum: true, title: "Work" } };
export const IN_TOPIC = { ...TOPIC, extra: { message_thread_id: 4, is_topic_message: true } };

const folders: string[] = [];

/** `CALL name {json}` makes the model call that tool; its result comes back as the answer. */
export const callingScript: Script = (request) => {
  const last = request.messages.at(-1);
  if (last?.role === "tool") return text(`Result: ${String(last.text)}`);
  const found = [...String(last?.text ?? "").matchAll(/CALL (\w+) (\{.*\})/g)].at(-1);
  if (!found) return text(`You said: ${String(last?.text ?? "")}`);
  return calls([{ name: found[1] ?? "", args: JSON.parse(found[2] ?? "{}") as object }] as Parameters<typeof calls>[0]);
};

export interface UsersFixture extends GatewayFixture {
  /** The folder in which commands run, outside of the home. */
  readonly folder: string;
}

export async function openUsersFixture(
  options: Omit<NonNullable<Parameters<typeof openGatewayFixture>[0]>, "cwd" | "script"> & {
    readonly owners?: boolean;
  } = {},
): Promise<UsersFixture> {
  const folder = realpathSync(tempDir("users-"));
  folders.push(folder);
  const owners = options.owners === false ? "" : `gateway:\n  owners: ["telegram:${OWNER}"]\n`;
  const made = await openGatewayFixture({
    ...options,
    env: options.env ?? { TELEGRAM_ALLOWED_USERS: `${OWNER},${GUEST},${OTHER}` },
    config: `${owners}${options.config ?? ""}`,
    script: callingScript,
    cwd: folder,
  });
  return Object.assign(made, { folder });
}

/** For `afterEach`, after the gateways are closed. */
export function removePlaces(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export const call = (name: string, args: object): string => `CALL ${name} ${JSON.stringify(args)}`;
export const run = (command: string): string => call("terminal", { command });

/** The open question in a chat; waits until there is one. */
export async function questionIn(w: GatewayFixture, chat: number): Promise<FakeMessage> {
  const find = () => w.telegram.fromBot(chat).find((message) => message.markup.includes("ea:"));
  await w.telegram.until(() => find() !== undefined);
  return find() as FakeMessage;
}

export const findButton = (question: FakeMessage, choice: string): string =>
  RegExp(`ea:${choice}:\\w+`).exec(question.markup)?.[0] ?? "";

/** The result of the tool call, as the chat shows it. */
export async function resultIn(w: GatewayFixture, chat: number): Promise<string> {
  const find = () => texts(w, chat).findLast((shown) => shown.startsWith("Result:"));
  await w.telegram.until(() => find() !== undefined);
  return find() ?? "";
}
