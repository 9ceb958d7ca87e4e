// A chat platform as one value: what it is, what it can do, what it needs, and how to connect.
import type { Availability } from "./tool.ts";

export type ChatKind = "dm" | "group" | "channel" | "thread" | "forum" | "webhook";

export type MediaKind = "image" | "video" | "audio" | "voice" | "document" | "sticker";

/** Where a message came from and whose it is. The names follow `sessions.json`. */
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
  /** A second, steadier identity of the same person, where the platform has one. */
  readonly userIdAlt?: string | undefined;
  readonly isBot?: boolean | undefined;
  readonly guildId?: string | undefined;
  /** The chat that a thread hangs from. */
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

/** A pressed button: `data` is what the button was made with. */
export interface ButtonPress {
  readonly data: string;
  /** The message that carried the buttons. */
  readonly messageId: string;
  /** The platform's handle for answering the press, when it wants an answer. */
  readonly pressId?: string | undefined;
}

/**
 * Something that arrived. `account`, the chat and `messageId` are its key: the same key is handled once, however often
 * the platform delivers it. Plain JSON, because it is kept on disk until it is done.
 */
export interface InboundEvent {
  /** The bot account that received it: two bots in one chat are two keys. */
  readonly account: string;
  /** Unique in the chat; a button press or an edit carries an id of its own. */
  readonly messageId: string;
  readonly source: Source;
  readonly text: string;
  readonly attachments?: readonly Attachment[] | undefined;
  /** Messages that are pieces of one, such as the pictures of an album, share it. */
  readonly group?: string | undefined;
  readonly replyTo?: { readonly messageId: string; readonly text?: string | undefined; readonly fromBot?: boolean };
  /** The person changed a message that was sent before; `edits` is that message's id. */
  readonly edited?: boolean | undefined;
  readonly edits?: string | undefined;
  /** Made by the program itself, for example news of a background process: nobody has to be let in. */
  readonly internal?: boolean | undefined;
  readonly press?: ButtonPress | undefined;
  /** What was said in the channel before the bot was addressed. */
  readonly backfill?: string | undefined;
  /** Skills to load when this opens a new session. */
  readonly autoSkills?: readonly string[] | undefined;
  /** Text for the model about this one place (a channel's own prompt). */
  readonly channelPrompt?: string | undefined;
  /** The transport has checked the sender (a signed webhook): no allow-list applies. */
  readonly authenticated?: boolean | undefined;
  /** Where the answer goes instead of the chat it came from: a delivery target, or null for nowhere. */
  readonly deliverTo?: string | null | undefined;
  /** Unix milliseconds. */
  readonly at: number;
}

export interface Button {
  readonly label: string;
  readonly data: string;
}

/** Where a message goes. */
export interface Destination {
  readonly chatId: string;
  readonly threadId?: string | undefined;
}

export interface OutboundMessage {
  /** Markdown as models write it; the platform turns it into its own format and falls back to plain text. */
  readonly text: string;
  readonly buttons?: readonly (readonly Button[])[] | undefined;
  readonly replyTo?: string | undefined;
  /** No sound on the other side. */
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

/** What became of a send. Expected trouble is data. */
export type SendResult =
  | { readonly ok: true; readonly messageId: string }
  /** Nothing was delivered; trying again is safe, after `retryAfterMs` when the platform named a time. */
  | { readonly ok: false; readonly kind: "retry"; readonly reason: string; readonly retryAfterMs?: number | undefined }
  /** The request left and no answer came: it may or may not have been delivered. */
  | { readonly ok: false; readonly kind: "unknown"; readonly reason: string }
  /** It will never work: blocked by the user, chat gone, file too large. */
  | { readonly ok: false; readonly kind: "refused"; readonly reason: string };

/** A send whose end nobody saw, because the program died or the line broke. */
export interface UnknownSend {
  readonly to: Destination;
  readonly message: OutboundMessage | OutboundFile;
  /** What `mark` gave before the send. */
  readonly mark: string | null;
  /** Ids of messages of this platform that are accounted for: it is none of them. */
  readonly known: ReadonlySet<string>;
  /** Keeps another mark for this send, on disk: what a search has begun can be finished after the next crash. */
  remember?(mark: string): Promise<void>;
}

export type SendProof =
  | { readonly sent: true; readonly messageId: string }
  | { readonly sent: false }
  /** The platform cannot tell. */
  | { readonly sent: "unknown" };

export type HealthState = "connecting" | "ok" | "degraded" | "red";

export interface PlatformHealth {
  readonly state: HealthState;
  /** Unix milliseconds of the last proof that receiving works: an update, an empty poll that was answered, a heartbeat. */
  readonly provenAt: number | null;
  /** What is wrong, in words. */
  readonly reason?: string | undefined;
}

export interface PlatformConnection {
  /** The account that is connected: the bot's id or address. Part of every key. */
  readonly account: string;
  /** The bot's name as people see it. */
  readonly accountName?: string | undefined;
  send(to: Destination, message: OutboundMessage, signal: AbortSignal): Promise<SendResult>;
  /** Changing a message to what it says already succeeds. */
  edit?(
    to: Destination,
    messageId: string,
    message: Omit<OutboundMessage, "idempotencyKey">,
    signal: AbortSignal,
  ): Promise<SendResult>;
  delete?(to: Destination, messageId: string, signal: AbortSignal): Promise<SendResult>;
  sendFile?(to: Destination, file: OutboundFile, signal: AbortSignal): Promise<SendResult>;
  /** Shows that work goes on; best effort, never throws. */
  typing?(to: Destination): Promise<void>;
  /** Marks a person's message: seen, done, failed; best effort, never throws. */
  react?(to: Destination, messageId: string, mood: "seen" | "done" | "failed" | "clear"): Promise<void>;
  /** Tells the platform that a press was received, with a short text for the presser. */
  answerPress?(press: ButtonPress, text?: string): Promise<void>;
  /** The bytes of an attachment. Throws when they cannot be had. */
  download?(attachment: Attachment, signal: AbortSignal): Promise<Uint8Array>;
  /** Taken before a send and kept with it: by it `findSent` knows where to look. */
  mark?(to: Destination): string | null;
  /** Makes `mark` known where it is not, before the first message there. Nothing of the message itself leaves. */
  learnMark?(to: Destination, key: string, signal: AbortSignal): Promise<SendResult>;
  /** Was this delivered? Asked after a crash, before anything else is sent to that chat. */
  findSent?(unknown: UnknownSend, signal: AbortSignal): Promise<SendProof>;
  /** Places that the account can write to without having been written to; absent where the platform has no such list. */
  channels?(): Promise<
    readonly {
      readonly id: string;
      readonly name: string;
      readonly kind: ChatKind;
      readonly guild?: string | undefined;
    }[]
  >;
  /** How many requests the platform answers by itself, outside of chats. */
  working?(): number;
  /** Takes no new requests of that kind; resolves when those that are being answered are done. */
  drain?(): Promise<void>;
  health(): PlatformHealth;
  /** Ends receiving and frees everything; idempotent, never throws. */
  close(): Promise<void>;
}

export interface PlatformMemory {
  get(key: string): Promise<string | null>;
  /** Kept until that time in Unix milliseconds, or for good: what comes with every message needs an end. */
  set(key: string, value: string, until?: number): Promise<void>;
}

/** What a platform gets when it connects. */
export interface PlatformContext {
  /** The value of one of the platform's settings: the environment first, then its section in `config.yaml`. */
  setting(name: string): string | undefined;
  /** The platform's section of `config.yaml` with `platforms.<name>.extra` merged in. */
  readonly section: { readonly [key: string]: unknown };
  /**
   * Hands an event over. Resolves when it is on disk: only then may the platform be told that it was received. Rejects
   * when it could not be kept; the platform must deliver it again.
   */
  receive(event: InboundEvent): Promise<void>;
  /** The same for several at once, in order, in one write. */
  receiveAll(events: readonly InboundEvent[]): Promise<void>;
  /** Small durable values of this platform, for example the offset of the last poll. */
  readonly memory: PlatformMemory;
  /** The newest known message of each chat: by it a connection that does not listen knows where its messages begin. */
  newest?(): Promise<readonly { readonly chatId: string; readonly messageId: string }[]>;
  /** One line for the log; secrets are removed. */
  log(level: "info" | "warning" | "error", text: string): void;
  /** The connection is beyond repair: the gateway closes it and connects anew, with growing pauses. */
  lost(reason: string, options?: { readonly fatal?: boolean | undefined }): void;
  /** Unix milliseconds. */
  now(): number;
  /** Fires when the gateway stops or gives this connection up. */
  readonly signal: AbortSignal;
  /** Delivers text somewhere else through the outbox: `telegram`, `telegram:ID`, `telegram:ID:THREAD`. */
  deliver(target: string, text: string, key: string): Promise<void>;
  /** Would `deliver` find that place? Absent where nothing is delivered. */
  reaches?(target: string): boolean;
  /** Folder of the home, for platforms with files of their own. */
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

/** Text in, text out, and nothing else. */
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
  /** What the model should know about writing here. */
  readonly promptHint: string;
  readonly settings: readonly PlatformSetting[];
  /** Tool progress when the configuration says nothing. */
  readonly toolProgress: "off" | "new" | "all" | "verbose";
  /** Where people get what `settings` asks for; shown by the set-up. */
  readonly setupHint?: string | undefined;
  /** Environment variable of the home channel; `<NAME>_HOME_CHANNEL` when absent. */
  readonly homeVariable?: string | undefined;
  /** Messages to one chat that may leave in a second, and to all chats together. */
  readonly rate?: { readonly perChat: number; readonly total: number };
  /** May it be connected with these settings? The reason names what is missing. */
  enabled(context: Pick<PlatformContext, "setting" | "section">): Availability;
  /** Resolves when messages can be received; rejects with a UserError for settings that cannot work. */
  connect(context: PlatformContext): Promise<PlatformConnection>;
  /** Proves that receiving will work, without receiving: for the set-up. Rejects as `connect` does. */
  prove?(context: PlatformContext): Promise<void>;
  /**
   * A connection that sends and does not receive, for programs beside the gateway. It has signed in when it resolves, so
   * it also proves the settings. Rejects as `connect` does. Absent where only the gateway can send.
   */
  openSender?(context: PlatformContext): Promise<PlatformConnection>;
}

export function isFile(message: OutboundMessage | OutboundFile): message is OutboundFile {
  return "path" in message;
}
