// The rights of the user whose message started a turn.

/** `owner` may configure the agent and approve actions; `guest` is every other user who may write to it. */
export type Role = "owner" | "guest";
