// The exports of the package `hermes-ts`.

export { createHermes, type Hermes, type HermesOptions } from "./app/library.ts";
export type { BackupReport } from "./backup/api.ts";
export type { CheckResult } from "./care/doctor/check.ts";
export type { DoctorReport } from "./care/doctor/doctor.ts";
export { backUpHome, type CareOptions, runDoctor } from "./care/library.ts";
export type { Choice, ChoiceAction, CommandAnswer } from "./core/chat/command.ts";
export type { TerminalRequest } from "./core/chat/terminal-request.ts";
export type {
  Conversation,
  ConversationOptions,
  OpenedConversation,
  SendOptions,
  UndoneExchange,
} from "./core/conversation.ts";
export type { AgentEvent, TurnEnd } from "./core/event.ts";
export { type Failure, type FailureKind, UserError } from "./core/failure.ts";
export type { Goal, GoalStep, Goals } from "./core/goal.ts";
export {
  type ApprovalAnswer,
  type ApprovalRequest,
  absentHuman,
  type ClarifyRequest,
  type Human,
} from "./core/human.ts";
export type { Job, JobRun } from "./core/job.ts";
export type { JobInput } from "./core/job-service.ts";
export type { Content, ContentPart, Message, ToolCall } from "./core/message.ts";
export type { Review } from "./core/review.ts";
export type { Proposal } from "./core/store/proposals.ts";
export type { SearchAnswer, SearchHit, SessionRow, SessionStore, SessionSummary } from "./core/store/session.ts";
export type { Cost, Usage, UsageLedger } from "./core/store/usage.ts";
export type { Jobs } from "./cron/job-service.ts";
