// The context of slash commands in a chat, and the actions they may request.
import type { ApprovalChoice } from "../human.ts";
import type { Source } from "./platform.ts";

/** The chat in which a command was sent. */
export interface ChatCommandContext {
  readonly source: Source;
  readonly sessionKey: string;
  /** The sender may change the agent and approve what needs approval. */
  readonly isOwner: boolean;
  /** The sender is an owner in a private chat: memory, sessions and jobs are those of the home. */
  readonly sharesHome: boolean;
  /** The chat's platform has a home channel. */
  readonly hasHomeChannel: boolean;
}

/** Something that only the gateway can do. It replies in the chat with the result. */
export type GatewayRequest =
  /** Answers the open approval questions of this chat; with `id` the one question of that id. */
  | {
      readonly kind: "decide";
      readonly choice: ApprovalChoice;
      readonly all: boolean;
      readonly id?: string | undefined;
    }
  | { readonly kind: "set-home" }
  | { readonly kind: "restart" }
  | { readonly kind: "list-platforms" }
  | { readonly kind: "pause-platform" | "resume-platform"; readonly platform: string }
  /** Starts a background task; without a task, lists the running ones. */
  | { readonly kind: "background"; readonly task: string }
  | { readonly kind: "topic"; readonly args: string }
  | { readonly kind: "voice"; readonly args: string };
