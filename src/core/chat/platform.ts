// A chat platform: its capabilities, its settings and how to connect to it.
import type { Availability } from "../tool/tool.ts";

export type ChatKind = "dm" | "group" | "channel" | "thread" | "forum" | "webhook";

export type MediaKind = "image" | "video" | "audio" | "voice" | "document" | "sticker";

/** The chat and the sender of a message. The names are those of `sessions.json`. */
export interface Source {
  readonly platform: string;
  readonly chatId: string;
  readonly chatName?: string | undefined;
  readonly chatKind: ChatKind;
  readonly threadId?: string | undefined;
  readonly chatTopic?: string | undefined;
  /** Null when the platform names no sender: such messages are dropped unless the platform authenticates itself. */
  readonly userId: string | null;
  readonly userName?: string | undefined;
  /** A second, more stable id of the same user, where the platform has one. */
  readonly userIdAlt?: string | undefined;
  readonly isBot?: boolean | undefined;
  readonly guildId?: string | undefined;
  /** The chat that a thread belongs to. */
  readonly parentChatId?: string | undefined;
}

/** A file in a message. The bytes are fetched only when a turn needs them. */
export interface Attachment {
  readonly kind: MediaKind;
  readonly name?: string | undefined;
  readonly mime?: string | undefined;
  readonly bytes?: number | undefined;
  /** The platform's own handle, plain JSON: `PlatformConnection.download` understands it, also after a restart. */
  readonly ref: string;
}

/** A pressed button: `data` is the data of the button. */
export interface ButtonPress {
  readonly data: string;
  /** The message that carried the buttons. */
  readonly messageId: string;
  /** The platform's handle for answering the press, when it wants an answer. */
  readonly pressId?: string | undefined;
}

/**
 * A received message or other event. `account`, the chat and `messageId` are its key: an event that the platform
 * delivers several times is handled once. Plain JSON, because it is stored on disk until it is done.
 */
export interface InboundEvent {
  /** The bot account that received it: two bots in one chat are two keys. */
  readonly account: string;
  /** Unique in the chat; a button press or an edit has its own id. */
  readonly messageId: string;
  readonly source: Source;
  readonly text: string;
  readonly attachments?: readonly Attachment[] | undefined;
  /** Messages that are pieces of one, such as the pictures of an album, share it. */
  readonly group?: string | undefined;
  readonly replyTo?:
    | { readonly messageId: string; readonly text?: string | undefined; readonly fromBot?: boolean }
    | undefined;
  /** The sender passed on a message that somebody else wrote. */
  readonly forwarded?: boolean | undefined;
  /** Set when the user changed an earlier message: the id of that message. */
  readonly edited?: boolean | undefined;
  readonly edits?: string | undefined;
  /** Created by the program, for example for a background process: no sender has to be authorised. */
  readonly internal?: boolean | undefined;
  readonly press?: ButtonPress | undefined;
  /** Messages of the channel before the bot was addressed. */
  readonly backfill?: string | undefined;
  /** Skills to load when this opens a new session. */
  readonly autoSkills?: readonly string[] | undefined;
  /** Text for the model about this chat, for example the prompt of a channel. */
  readonly channelPrompt?: string | undefined;
  /** The transport has checked the sender (a signed webhook): no allow-list applies. */
  readonly authenticated?: boolean | undefined;
  /** Where the answer is delivered instead of this chat: a delivery target, or null for nowhere. */
  readonly deliverTo?: string | null | undefined;
  /** Unix milliseconds. */
  readonly at: number;
}

export interface Button {
  readonly label: string;
  readonly data: string;
}

/** The target of a message. */
export interface Destination {
  readonly chatId: string;
  readonly threadId?: string | undefined;
}

export interface OutboundMessage {
  /** Markdown as models write it; the platform turns it into its own format and falls back to plain text. */
  readonly text: string;
  readonly buttons?: readonly (readonly Button[])[] | undefined;
  readonly replyTo?: string | undefined;
  /** Without a notification sound. */
  readonly silent?: boolean | undefined;
  /** The same for every attempt at one message: platforms that can refuse a repetition use it. */
  readonly idempotencyKey: string;
}

export interface OutboundFile {
  readonly kind: MediaKind;
  readonly path: string;
  readonly name: string;
  readonly caption?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly idempotencyKey: string;
}

/** The outcome of a send. Expected errors are data. */
export type SendResult =
  | { readonly ok: true; readonly messageId: string }
  /** Nothing was delivered; a retry is safe, after `retryAfterMs` when the platform named a time. */
  | { readonly ok: false; readonly kind: "retry"; readonly reason: string; readonly retryAfterMs?: number | undefined }
  /** The request was sent and got no response: it may or may not have been delivered. */
  | { readonly ok: false; readonly kind: "unknown"; readonly reason: string }
  /** A permanent failure: blocked by the user, chat deleted, file too large. */
  | { readonly ok: false; readonly kind: "refused"; readonly reason: string };

/** A send with an unknown outcome, because the program or the connection ended. */
export interface UnknownSend {
  readonly to: Destination;
  readonly message: OutboundMessage | OutboundFile;
  /** What `mark` returned before the send. */
  readonly mark: string | null;
  /** Ids of known messages of this platform, none of which is the one searched for. */
  readonly known: ReadonlySet<string>;
  /** Stores another mark for this send, so that the search can be continued after another crash. */
  remember?(mark: string): Promise<void>;
}

export type SendProof =
  | { readonly sent: true; readonly messageId: string }
  | { readonly sent: false }
  /** The platform cannot find out. */
  | { readonly sent: "unknown" };

export type HealthState = "connecting" | "ok" | "degraded" | "red";

export interface PlatformHealth {
  readonly state: HealthState;
  /** Unix milliseconds of the last proof that receiving works: an update, an empty poll that was answered, a heartbeat. */
  readonly provenAt: number | null;
  /** A description of the problem. */
  readonly reason?: string | undefined;
}

export interface PlatformConnection {
  /** The account that is connected: the bot's id or address. Part of every key. */
  readonly account: string;
  /** The bot's name as people see it. */
  readonly accountName?: string | undefined;
  send(to: Destination, message: OutboundMessage, signal: AbortSignal): Promise<SendResult>;
  /** Succeeds also when the text is unchanged. */
  edit?(
    to: Destination,
    messageId: string,
    message: Omit<OutboundMessage, "idempotencyKey">,
    signal: AbortSignal,
  ): Promise<SendResult>;
  delete?(to: Destination, messageId: string, signal: AbortSignal): Promise<SendResult>;
  sendFile?(to: Destination, file: OutboundFile, signal: AbortSignal): Promise<SendResult>;
  /** Shows a typing indicator; best effort, never throws. */
  typing?(to: Destination): Promise<void>;
  /** Marks a user's message as seen, done or failed; best effort, never throws. */
  react?(to: Destination, messageId: string, mood: "seen" | "done" | "failed" | "clear"): Promise<void>;
  /** Acknowledges a button press, with a short text for the user. */
  answerPress?(press: ButtonPress, text?: string): Promise<void>;
  /** The bytes of an attachment. Throws when they cannot be fetched. */
  download?(attachment: Attachment, signal: AbortSignal): Promise<Uint8Array>;
  /** Taken before a send and stored with it: tells `findSent` where to search. */
  mark?(to: Destination): string | null;
  /** Determines `mark` where it is unknown, before the first message there. Sends nothing of the message itself. */
  learnMark?(to: Destination, key: string, signal: AbortSignal): Promise<SendResult>;
  /** Whether a send was delivered. Called after a crash, before anything else is sent to that chat. */
  findSent?(unknown: UnknownSend, signal: AbortSignal): Promise<SendProof>;
  /** Chats that the account can write to without having received a message; absent where the platform has no such list. */
  channels?(): Promise<
    readonly {
      readonly id: string;
      readonly name: string;
      readonly kind: ChatKind;
      readonly guild?: string | undefined;
    }[]
  >;
  /** The number of requests that the platform handles itself, outside of chats. */
  working?(): number;
  /** Accepts no new requests of that kind; resolves when the running ones are done. */
  drain?(): Promise<void>;
  health(): PlatformHealth;
  /** Ends receiving and frees everything; idempotent, never throws. */
  close(): Promise<void>;
}

export interface PlatformMemory {
  get(key: string): Promise<string | null>;
  /** `until` is in Unix milliseconds; values that are stored for every message must expire. */
  set(key: string, value: string, until?: number): Promise<void>;
}

/** What a platform gets when it connects. */
export interface PlatformContext {
  /** The value of one of the platform's settings: the environment first, then its section in `config.yaml`. */
  setting(name: string): string | undefined;
  /** The platform's section of `config.yaml` with `platforms.<name>.extra` merged in. */
  readonly section: { readonly [key: string]: unknown };
  /**
   * Delivers an event to the gateway. Resolves when it is on disk: only then may it be acknowledged to the platform. Rejects
   * when it could not be kept; the platform must deliver it again.
   */
  receive(event: InboundEvent): Promise<void>;
  /** The same for several at once, in order, in one write. */
  receiveAll(events: readonly InboundEvent[]): Promise<void>;
  /** Small durable values of this platform, for example the offset of the last poll. */
  readonly memory: PlatformMemory;
  /** The newest known message of each chat, for connections that poll. */
  newest?(): Promise<readonly { readonly chatId: string; readonly messageId: string }[]>;
  /** One line for the log; secrets are removed. */
  log(level: "info" | "warning" | "error", text: string): void;
  /** Reports that the connection is lost: the gateway closes it and reconnects, with increasing delays. */
  lost(reason: string, options?: { readonly fatal?: boolean | undefined }): void;
  /** Unix milliseconds. */
  now(): number;
  /** Fires when the gateway stops or closes this connection. */
  readonly signal: AbortSignal;
  /** Delivers text somewhere else through the outbox: `telegram`, `telegram:ID`, `telegram:ID:THREAD`. */
  deliver(target: string, text: string, key: string): Promise<void>;
  /** Whether `deliver` knows that target. Absent where nothing is delivered. */
  reaches?(target: string): boolean;
  /** The path of the home, for platforms that store files. */
  readonly homePath: string;
}

export interface PlatformSetting {
  /** Environment variable. */
  readonly env: string;
  /** Key in the platform's section of `config.yaml`, where there is one. */
  readonly key?: string | undefined;
  readonly description: string;
  readonly secret?: boolean | undefined;
  /** Without it the platform is not enabled. */
  readonly required?: boolean | undefined;
}

export interface PlatformCapabilities {
  readonly edit: boolean;
  readonly delete: boolean;
  readonly buttons: boolean;
  readonly threads: boolean;
  readonly typing: boolean;
  readonly reactions: boolean;
  /** Kinds that can be sent as files; others are named in the text. */
  readonly media: readonly MediaKind[];
}

/** Capabilities of a platform that only receives and sends text. */
export const PLAIN_CAPABILITIES: PlatformCapabilities = {
  edit: false,
  delete: false,
  buttons: false,
  threads: false,
  typing: false,
  reactions: false,
  media: [],
};

export interface Platform {
  /** The id in keys, configuration and targets: `telegram`. */
  readonly name: string;
  readonly label: string;
  /** Longest message and what is counted. 0 means no limit. */
  readonly maxLength: number;
  readonly lengthUnit: "utf16" | "codepoints" | "bytes";
  readonly capabilities: PlatformCapabilities;
  /** Instructions for the model about writing on this platform. */
  readonly promptHint: string;
  readonly settings: readonly PlatformSetting[];
  /** Tool progress when it is not configured. */
  readonly toolProgress: "off" | "new" | "all" | "verbose";
  /** How to get the values of `settings`; shown by the set-up. */
  readonly setupHint?: string | undefined;
  /** Environment variable of the home channel; `<NAME>_HOME_CHANNEL` when absent. */
  readonly homeVariable?: string | undefined;
  /** Messages to one chat that may leave in a second, and to all chats together. */
  readonly rate?: { readonly perChat: number; readonly total: number };
  /** Whether it can be connected with these settings; the reason names what is missing. */
  enabled(context: Pick<PlatformContext, "setting" | "section">): Availability;
  /** Resolves when messages can be received; rejects with a UserError for settings that cannot work. */
  connect(context: PlatformContext): Promise<PlatformConnection>;
  /** Proves that receiving will work, without receiving: for the set-up. Rejects as `connect` does. */
  prove?(context: PlatformContext): Promise<void>;
  /**
   * A connection that sends and does not receive, for programs other than the gateway. It has signed in when it resolves, so
   * it also proves the settings. Rejects as `connect` does. Absent where only the gateway can send.
   */
  openSender?(context: PlatformContext): Promise<PlatformConnection>;
}

export function isFile(message: OutboundMessage | OutboundFile): message is OutboundFile {
  return "path" in message;
}
