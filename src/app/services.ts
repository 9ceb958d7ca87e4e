// The services that all conversations of a program share.
import { join } from "node:path";
import type { ConfigReload } from "../config/reload.ts";
import type { Config } from "../core/config/config.ts";
import type { Containers } from "../core/container.ts";
import type { Home } from "../core/home.ts";
import type { Hooks } from "../core/hook.ts";
import type { Deliverer } from "../core/job.ts";
import type { ProjectTrust } from "../core/project-trust.ts";
import type { Redactor } from "../core/redactor.ts";
import type { Scan } from "../core/scan.ts";
import type { AnswerDrafts } from "../core/store/answer-draft.ts";
import type { ProposalStore } from "../core/store/proposals.ts";
import type { SessionStore } from "../core/store/session.ts";
import type { TrustLog } from "../core/store/trust-log.ts";
import type { UsageLedger } from "../core/store/usage.ts";
import type { JobRepository } from "../cron/job-repository.ts";
import type { McpAccess } from "../mcp/mcp-access.ts";
import type { PluginHost } from "../plugins/plugin-host.ts";
import type { Models } from "../providers/connect.ts";
import type { UrlPolicy } from "../security/url-guard.ts";
import type { LazySkills } from "../skills/lazy-skills.ts";
import type { Workspaces } from "../tools/terminal/workspaces.ts";
import type { AppGate } from "./open-guards.ts";

/** Scheduled jobs; their code is loaded on the first call. */
export interface JobAccess {
  /** The jobs, without the means to run them. */
  repository(): Promise<JobRepository>;
  /** Sends results to chats. */
  deliverer(): Promise<Deliverer>;
}

export interface Services {
  readonly home: Home;
  readonly config: Config;
  /** Reads config.yaml again into `config`. */
  readonly reload: ConfigReload;
  readonly store: SessionStore;
  readonly ledger: UsageLedger;
  /** Which stored messages hold text of others. */
  readonly trust: TrustLog;
  /** Lasting changes that wait for the user. */
  readonly proposals: ProposalStore;
  /** Which projects are the user's own. */
  readonly projects: ProjectTrust;
  readonly drafts: AnswerDrafts;
  readonly models: Models;
  readonly redactor: Redactor;
  readonly gate: AppGate;
  readonly urls: UrlPolicy;
  readonly hooks: Hooks;
  readonly scan: Scan;
  /** Null when no plugin is configured. */
  readonly plugins: PluginHost | null;
  readonly skills: LazySkills;
  readonly mcp: McpAccess;
  readonly cron: JobAccess;
  /** The containers of local commands. */
  readonly containers: Containers;
  readonly workspaces: Workspaces;
  notice(text: string): void;
}

/** The folder for tool output that is too large for the window; readable by the owner only. */
export function spillDir(home: Home, conversationId: string): string {
  return join(home.path, "cache", "tool-results", conversationId.replaceAll(/[^\w-]/g, "_"));
}
