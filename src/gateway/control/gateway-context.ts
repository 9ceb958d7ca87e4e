// What all chats of the gateway share.
import type { OpenedGateway } from "../../app/open-gateway.ts";
import type { InboxRow } from "../../core/mailbox.ts";
import type { Destination, Platform, PlatformConnection, Source } from "../../core/platform.ts";
import type { Role } from "../../core/role.ts";
import type { Agents } from "../chat/agents.ts";
import type { OpenQuestions } from "../chat/open-questions.ts";
import type { AccessSettings } from "../inbound/access.ts";
import type { Owners } from "../inbound/owners.ts";
import type { ResetPolicy } from "../inbound/reset-policy.ts";
import type { SessionIndex } from "../inbound/session-index.ts";
import type { KeyRules } from "../inbound/session-key.ts";
import type { Topics } from "../inbound/topics.ts";
import type { Sender } from "../outbound/sender.ts";
import type { VoiceModes } from "../outbound/voice-modes.ts";
import type { GatewayHooks } from "./hooks.ts";

/** Work beside the chats. */
export interface BackgroundTasks {
  /** Lines about the tasks of one place. */
  list(to: Destination): string[];
  /** The id of the task; its result comes as a message. */
  start(options: BackgroundRequest): Promise<string>;
}

export interface BackgroundRequest {
  readonly row: InboxRow;
  readonly prompt: string;
  readonly platform: Platform;
  readonly to: Destination;
}

/** Whose background processes are whose. */
export interface ProcessStarters {
  /** This conversation's processes belong to the chat of this message. */
  remember(conversationId: string, row: InboxRow): void;
  /** True while a process runs that the chat of this session key started. */
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
  /** The open questions of all chats. */
  readonly questions: OpenQuestions;
  /** An owner in private: shares the home's own memory with the terminal; everybody else has a memory of their own. */
  isOwner(source: Source): boolean;
  /** The rights of a turn that this message begins. */
  roleOf(row: InboxRow): Role;
  /** The platform is set up and in use. */
  isLinked(platform: string): boolean;
  /** The name under which this person's or chat's data are kept apart. */
  tenant(source: Source): string;
  /** True from the moment the gateway was told to stop. */
  draining(): boolean;
  /** The gateway stops and starts anew, after the running turns; the place that asked hears when it is back. */
  restart(source: Source): Promise<void>;
  readonly background: BackgroundTasks;
  readonly topics: Topics;
  readonly voice: VoiceModes;
  readonly processes: ProcessStarters;
  /** Where a delivery target such as `telegram:123:45` leads; null when nothing can be sent there. */
  destination(target: string): { readonly platform: Platform; readonly to: Destination } | null;
  /** A chat wrote for the first time. */
  newChat(): void;
  /** Closes a platform until it is resumed or the gateway starts anew; connects one anew. False for an unknown name. */
  pause(platform: string): Promise<boolean>;
  resume(platform: string): Promise<boolean>;
  /** Lines about each platform, for /platform and /status. */
  platformLines(): readonly string[];
  log(level: "info" | "warning" | "error", text: string): void;
  now(): number;
}
