// The library: what `import … from "hermes-ts"` gives.
export type { AgentEvent, TurnEnd } from "./core/event.ts";
export { type Failure, type FailureKind, UserError } from "./core/failure.ts";
export type { Message } from "./core/message.ts";
export type { SessionStore } from "./core/session.ts";
