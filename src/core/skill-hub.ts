// The skills hub as a contract: search, inspect, install, check and remove skills that come from elsewhere.

export interface FileChange {
  readonly path: string;
  readonly kind: "added" | "removed" | "changed";
  readonly plus: number;
  readonly minus: number;
  /** Unified diff; empty for binary or large files. */
  readonly patch: string;
}

/** What installing a skill would do, for the user to decide on. */
export interface InstallPlan {
  readonly name: string;
  readonly category: string;
  readonly description: string;
  readonly version: string;
  readonly source: string;
  readonly identifier: string;
  readonly trust: string;
  readonly verdict: string;
  readonly action: string;
  /** True when `--force` lifts the block. */
  readonly overridable: boolean;
  readonly reason: string;
  readonly findings: readonly {
    readonly severity: string;
    readonly what: string;
    readonly file: string;
    readonly line: number;
    readonly match: string;
  }[];
  readonly files: readonly string[];
  readonly bytes: number;
  readonly sha256: string;
  readonly needs: readonly string[];
  /** Mistakes in SKILL.md that do not prevent its use. */
  readonly hints: readonly string[];
  /** A copy to read; deleted after the decision. */
  readonly folder: string;
  /** Differences from the installed version; every file is `added` when none is installed. */
  readonly changes: readonly FileChange[];
  /** Files of the installed version that the user edited. */
  readonly edits: readonly string[];
  readonly edited: boolean;
}

export interface InstallOptions {
  readonly name?: string | undefined;
  readonly category?: string | undefined;
  readonly force?: boolean | undefined;
}

/**
 * The user's answer to a plan; `overwrite` also discards their edits of the installed version. `accept`: the user has read
 * the findings of a blocked skill and wants it anyway.
 */
export type InstallConsent = (plan: InstallPlan) => Promise<"no" | "yes" | "overwrite" | "accept">;

export interface InstalledSkill {
  readonly name: string;
  readonly dir: string;
  readonly updated: boolean;
  /** Path of the copy that was kept of an edited version. */
  readonly kept?: string | undefined;
}

export type InstallOutcome =
  | { readonly done: true; readonly plan: InstallPlan; readonly installed: InstalledSkill }
  | { readonly done: false; readonly plan: InstallPlan };

/** One search result. */
export interface HubSkill {
  readonly identifier: string;
  readonly description: string;
  readonly trust: string;
}

/** The part of the hub that `/skills` uses. */
export interface SkillHub {
  /** `notes` names the sources that failed, and why. */
  search(
    query: string,
    options: { readonly source?: string | undefined; readonly limit: number },
  ): Promise<{ readonly listings: readonly HubSkill[]; readonly notes: readonly string[] }>;
  /** The plan and the text of SKILL.md; nothing is installed. */
  inspect(identifier: string): Promise<InstallPlan & { readonly text: string }>;
  /** Throws UserError for a skill that must not be installed, after `consent` was called with its plan. */
  install(identifier: string, options: InstallOptions, consent: InstallConsent): Promise<InstallOutcome>;
  check(name?: string): Promise<
    readonly {
      readonly name: string;
      readonly status: "up_to_date" | "update_available" | "unavailable";
      readonly local: { readonly state: string };
    }[]
  >;
  uninstall(name: string, options: { readonly forget: boolean; readonly overwrite: boolean }): Promise<void>;
}
