// The state of one conversation: the parts it was opened with, its message log and what its turns share.
import type { MessageLog } from "./message-log.ts";
import { OutsideText } from "./outside-text.ts";
import { OwnTexts } from "./own-texts.ts";
import type { ConversationParts } from "./parts.ts";
import { Steering } from "./steering.ts";
import { type ResolvedTools, resolveTools } from "./tools/resolved-tools.ts";

export interface ConversationState extends ConversationParts {
  readonly log: MessageLog;
  readonly tools: ResolvedTools;
  readonly steering: Steering;
  readonly outside: OutsideText;
  /** What the user wrote in this conversation, for changes that repeat the user's own words. */
  readonly ownTexts: OwnTexts;
  /** Turns begun in this process. */
  turns: number;
  /** The session has a title. */
  titled: boolean;
  /** The notice about a nearly full window was shown; once per session. */
  pressureShown: boolean;
}

export function createState(parts: ConversationParts, log: MessageLog): ConversationState {
  return {
    ...parts,
    log,
    tools: resolveTools(parts),
    steering: new Steering(),
    outside: new OutsideText(parts.trust),
    ownTexts: new OwnTexts(),
    turns: 0,
    titled: false,
    pressureShown: false,
  };
}

/** Tokens of the next request. */
export function requestTokens({ log, tools }: ConversationState): number {
  return log.requestTokens(tools.schemas);
}
