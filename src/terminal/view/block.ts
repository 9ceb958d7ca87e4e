// What the conversation screen is made of: blocks of lines, and the view of a running turn.
import type { AgentEvent } from "../../core/event.ts";

/** Something that can be drawn. Lines contain only SGR styles and are at most `width` columns wide. */
export interface Block {
  render(width: number): readonly string[];
}

/** What a turn shows: events in, settled and live blocks out. */
export interface TurnView {
  accept(event: AgentEvent): void;
  /** Blocks that will not change again, in order; each is returned once. */
  takeSettled(): readonly Block[];
  /** The part that may still change: unfinished paragraph, running tools, spinner. */
  live(now: number): readonly Block[];
}
