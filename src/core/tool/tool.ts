// A tool: its schema, its policy and its code. The runner applies time-outs, size limits, redaction and hooks.
import type { Static, TSchema } from "typebox";
import type { GateContext } from "../gate.ts";
import type { Human } from "../human.ts";
import type { ContentPart, JsonObject } from "../message.ts";
import type { ToolSchema } from "../model/provider.ts";
import type { Cost, Usage } from "../store/usage.ts";
import type { Trust } from "../trust.ts";

/** Failures are results, never exceptions. `content` is what the model reads. */
export interface ToolResult {
  readonly content: string | readonly ContentPart[];
  readonly failed?: boolean | undefined;
  /** Large output already on disk: the runner shows `content` (head and tail) and this handle. */
  readonly spill?: { readonly path: string; readonly bytes: number; readonly lines: number } | undefined;
  /** What a write changed, as a unified diff. For the user, not for the model. */
  readonly diff?: string | undefined;
  /** How far the text can be trusted; by the name of the tool when absent. */
  readonly trust?: Trust | undefined;
  /** For text that is not the user's own: its origin, as shown to the user. */
  readonly origin?: string | undefined;
}

/** A lasting change that the user has to accept: the call that would make it, and where its text came from. */
export interface ProposedChange {
  /** What it changes: memory, skill, cron, config or a file. */
  readonly what: string;
  readonly summary: string;
  readonly origin: string;
}

export interface ProposedCall extends ProposedChange {
  readonly tool: string;
  readonly args: JsonObject;
  readonly sessionId: string;
  readonly workspace: string;
  readonly userId?: string | undefined;
}

/** Stores a change for review. Returns its number. */
export type ProposeChange = (call: ProposedCall) => Promise<number>;

/** Everything that a tool gets for one call. */
export interface ToolContext {
  readonly sessionId: string;
  readonly conversationId: string;
  readonly callId: string;
  /** The current folder of the conversation's shell. */
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly human: Human;
  /** Shows a line to the user while the tool runs. */
  progress(text: string): void;
  /** True when the conversation holds untrusted text (web pages, foreign files, other people's messages). */
  readonly tainted: boolean;
  /** The origin of that text, as shown to the user. */
  readonly origin?: string | undefined;
  /** What the user wrote in this conversation, newest last; without text of others. */
  userTexts?(): readonly string[];
  /** Returns a function that stores a change which this call would make, for review by the user. */
  readonly proposeAs?: ((tool: string, args: JsonObject) => (change: ProposedChange) => Promise<number>) | undefined;
  /** Stores a change that the running call would make, for review by the user. */
  readonly propose?: ((change: ProposedChange) => Promise<number>) | undefined;
  /** The folder that the conversation was opened in; `cwd` when absent. */
  readonly workspace?: string | undefined;
  /** Delegation depth of this conversation; 0 for the user's own. */
  readonly depth: number;
  /** Adds the cost of the tool's own model calls to the totals of the turn. */
  spent?(usage: Usage, cost: Cost): void;
}

/** The context of a call for the gate. */
export function gateContext(toolName: string, context: ToolContext): GateContext {
  const { sessionId, human, tainted, origin, workspace, signal, userTexts, propose } = context;
  return {
    sessionId,
    toolName,
    human,
    tainted,
    signal,
    origin,
    workspace,
    userTexts,
    propose,
  };
}

export type Availability = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/**
 * How calls of one batch may overlap: `parallel` with anything read-only, `paths` while the paths it names are
 * disjoint from every other call's, `alone` never.
 */
export type Overlap = "parallel" | "paths" | "alone";

/** What the program must know about a tool beyond running it. A tool that replaces another one inherits these. */
export interface ToolPolicy {
  /** The smallest model window in which the tool is offered; large windows only when absent. */
  readonly minWindow?: "small" | "medium" | undefined;
  /** Why subagents must not use this tool, as the end of a sentence. */
  readonly notForSubagents?: string | undefined;
  /** Manages notes, tasks and the like: text of a reply that has only such calls is the answer. */
  readonly housekeeping?: boolean | undefined;
  /** Stores its arguments or passes them to another model: known secrets are removed from them first. */
  readonly storesArguments?: boolean | undefined;
  /** Its arguments name folders: project instructions found there are added to the result. */
  readonly namesFolders?: boolean | undefined;
  /** Left out of the prompt, always or when the schemas of such tools are large: the model finds it with search_tools. */
  readonly searchable?: "always" | "when-large" | undefined;
}

export interface Tool<P extends TSchema = TSchema> extends ToolPolicy {
  readonly name: string;
  readonly toolset: string;
  readonly description: string;
  /** Sent to the model as is, and checked before `run`. */
  readonly parameters: P;
  readonly overlap?: Overlap | undefined;
  /** Paths that a call touches, for `overlap: "paths"`. */
  paths?(args: Static<P>): readonly string[];
  /** Polling and paging tools are exempt from the loop guard. */
  readonly repeatable?: boolean | undefined;
  /** Characters of a result before it spills to a file; Infinity for tools that page by themselves. */
  readonly maxResultChars?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** The caller of the conversation runs it: the turn ends with the call. */
  readonly runsInClient?: boolean | undefined;
  /** Changes files, processes or remote systems. */
  readonly mutates?: boolean | undefined;
  /** Quick and without network; memoised for 30 s by the registry. */
  available?(): Availability | Promise<Availability>;
  /** A short line for progress displays, made from the arguments. */
  preview?(args: Static<P>): string;
  run(args: Static<P>, context: ToolContext): Promise<ToolResult>;
}

/** Returns the reason to refuse a tool; undefined allows it. */
export type DenyTool = (name: string, tool: Tool | undefined) => string | undefined;

/** Types the arguments of `run` by the schema; the result is a plain `Tool`, so that tools can share a list. */
export function defineTool<P extends TSchema>(tool: Tool<P>): Tool {
  return tool as unknown as Tool;
}

/** A JSON result, as most tools return. */
export function jsonResult(value: JsonObject, options: { failed?: boolean | undefined } = {}): ToolResult {
  return { content: JSON.stringify(value), ...(options.failed ? { failed: true } : {}) };
}

/** The form of every expected tool failure: what went wrong and what to try instead. */
export function toolError(message: string, details: JsonObject = {}): ToolResult {
  return { content: JSON.stringify({ error: message, ...details }), failed: true };
}

/** The tools of one conversation, resolved when it opens: the schemas are part of the fixed prompt prefix. */
export interface ToolBox {
  readonly schemas: readonly ToolSchema[];
  /** Tools that are found by search and have no schema in the prompt, as of the opening of the conversation. */
  readonly searched?: readonly string[] | undefined;
  /** The tool by its exact name, when it may be called in this conversation. */
  find(name: string): Tool | undefined;
  /** Why a known tool cannot be used here; undefined when it can, or when the name is unknown. */
  unavailable(name: string): string | undefined;
}
