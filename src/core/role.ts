// Whose turn it is, as far as rights go.

/** `owner` may change the agent and approve what needs approval; `guest` is everybody else who may write to it. */
export type Role = "owner" | "guest";
