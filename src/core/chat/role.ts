// The rights of the user whose message started a turn.

/**
 * `owner` may configure the agent and approve everything. `member` is a trusted user with a workspace, memory and approvals
 * of their own. `guest` is every other user who may write to the agent.
 */
export type Role = "owner" | "member" | "guest";

export interface Rights {
  /** Commands that change the agent: /yolo, /restart, /review and the like; configuration, keys and permissions. */
  readonly configures: boolean;
  /** Answers questions about their own turns; questions of others go to an owner. */
  readonly approvesOwn: boolean;
  /** Uses the home's own memory, sessions and files in private chats; others have their own. */
  readonly usesHome: boolean;
  /** MCP servers, job scripts and other accounts of the owner. */
  readonly usesAccounts: boolean;
}

export const RIGHTS: { readonly [role in Role]: Rights } = {
  owner: { configures: true, approvesOwn: true, usesHome: true, usesAccounts: true },
  member: { configures: false, approvesOwn: true, usesHome: false, usesAccounts: false },
  guest: { configures: false, approvesOwn: false, usesHome: false, usesAccounts: false },
};
