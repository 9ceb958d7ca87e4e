// Whether the files of a folder are the user's own or came from somebody else.

/** Folders in which projects keep code of others. */
const VENDORED =
  /(?:^|[\\/])(?:node_modules|vendor|third[_-]party|bower_components|site-packages|dist-packages|\.venv|Pods)(?:[\\/]|$)/;

export function isVendored(path: string): boolean {
  return VENDORED.test(path);
}

export interface ProjectTrust {
  /** For a file or folder of a project that somebody else wrote: its origin, as shown to the user. */
  foreignOrigin(path: string): Promise<string | undefined>;
}

/** The stored decision about a cloned project. */
export interface ProjectDecision {
  readonly trusted: boolean;
  readonly decidedBy: "first sight" | "user";
}

export interface ProjectDecisions {
  find(folder: string, remote: string): Promise<ProjectDecision | undefined>;
  record(folder: string, remote: string, decision: ProjectDecision): Promise<void>;
}
