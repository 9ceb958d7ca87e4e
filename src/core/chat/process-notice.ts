// A notice about a background process, for the conversation that started it.

export interface ProcessNotice {
  readonly conversationId: string;
  readonly kind: "completed" | "watched";
  /** The process ended with an error. */
  readonly failed: boolean;
  /** One line for the user. */
  readonly line: string;
  /** The message for the agent. */
  readonly message: string;
}
