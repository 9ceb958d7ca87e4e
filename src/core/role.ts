// Whose turn it is, as far as rights go.

/** `owner` may configure the agent and approve actions; `guest` is every other user who may write to it. */
export type Role = "owner" | "guest";
