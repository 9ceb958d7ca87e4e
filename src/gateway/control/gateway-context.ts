// The context that all chats of the gateway share.
import type { OpenedGateway } from "../../app/open-gateway.ts";
import type { Destination, Platform, PlatformConnection, Source } from "../../core/chat/platform.ts";
import type { Role } from "../../core/chat/role.ts";
import type { InboxRow } from "../../core/store/mailbox.ts";
import type { Agents } from "../chat/agents.ts";
import type { OpenQuestions } from "../chat/open-questions.ts";
import type { AccessSettings } from "../inbound/access.ts";
import type { Owners } from "../inbound/owners.ts";
import type { ResetPolicy } from "../inbound/reset-policy.ts";
import type { SessionIndex } from "../inbound/session-index.ts";
import type { KeyRules } from "../inbound/session-key.ts";
import type { Topics } from "../inbound/topics.ts";
import type { UserLimits } from "../inbound/user-limits.ts";
import type { Sender } from "../outbound/sender.ts";
import type { VoiceModes } from "../outbound/voice-modes.ts";
import type { GatewayHooks } from "./hooks.ts";

/** Background tasks of all chats. */
export interface BackgroundTasks {
  /** One line per task of a chat. */
  list(to: Destination): string[];
  /** Returns the id of the task; the result is sent as a message. */
  start(options: BackgroundRequest): Promise<string>;
}

export interface BackgroundRequest {
  readonly row: InboxRow;
  readonly prompt: string;
  readonly platform: Platform;
  readonly to: Destination;
}

/** Which chat started which background process. */
export interface ProcessStarters {
  /** Assigns the conversation's processes to the chat of this message. */
  remember(conversationId: string, row: InboxRow): void;
  /** True while a process of the chat with this session key runs. */
  alive(key: string): boolean;
}

export interface GatewayContext {
  readonly opened: OpenedGateway;
  readonly sender: Sender;
  readonly index: SessionIndex;
  readonly agents: Agents;
  readonly hooks: GatewayHooks;
  readonly access: AccessSettings;
  readonly keyRules: KeyRules;
  platform(name: string): Platform | undefined;
  connection(name: string): PlatformConnection | undefined;
  resetPolicy(source: Source): ResetPolicy;
  readonly owners: Owners;
  readonly limits: UserLimits;
  /** The open questions of all chats. */
  readonly questions: OpenQuestions;
  /** True for an owner in a private chat, who shares memory and sessions with the terminal. Others have their own. */
  sharesHome(source: Source): boolean;
  /** The rights of a turn that this message starts. */
  roleFor(row: InboxRow): Role;
  /** The platform is set up and in use. */
  isLinked(platform: string): boolean;
  /** The key under which this user's or chat's data is stored. */
  tenant(source: Source): string;
  /** True while the gateway is stopping. */
  draining(): boolean;
  /** Restarts the gateway after the running turns, and notifies the chat afterwards. */
  restart(source: Source): Promise<void>;
  readonly background: BackgroundTasks;
  readonly topics: Topics;
  readonly voice: VoiceModes;
  readonly processes: ProcessStarters;
  /** The chat of a delivery target such as `telegram:123:45`; null when nothing can be sent there. */
  destination(target: string): { readonly platform: Platform; readonly to: Destination } | null;
  /** Called when a new chat appears. */
  newChat(): void;
  /** Disconnects a platform until it is resumed or the gateway restarts; reconnects it. False for an unknown name. */
  pause(platform: string): Promise<boolean>;
  resume(platform: string): Promise<boolean>;
  /** Lines about each platform, for /platform and /status. */
  platformLines(): readonly string[];
  log(level: "info" | "warning" | "error", text: string): void;
  now(): number;
}
