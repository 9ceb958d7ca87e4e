// The home of a user as data: read once at the start and passed to everything that needs a path or a variable.

/** In the home while a restore replaces files; the next start undoes a restore that was interrupted. */
export const RESTORE_JOURNAL = "restore-journal.json";

export interface Home {
  /** HERMES_HOME of the chosen profile. */
  readonly path: string;
  /** The root that holds `profiles/`; equals `path` for the default profile. */
  readonly root: string;
  /** `default` or the profile's name. */
  readonly profile: string;
  /** The process environment with the home's `.env` applied. The only copy in the program. */
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  /** Who manages this install (`NixOS`, `Homebrew`, …); null when the user does. */
  readonly managedBy: string | null;
  /** HOME for child processes: the folder `home` inside the home, when it exists. */
  readonly childHome: string | null;
  /** Why `.env` could not be read: what it sets is missing from `env`. */
  readonly envError?: string | undefined;
}

/** The machine as a process sees it: the real one by default, plain data in tests. */
export interface Host {
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  readonly platform: string;
  readonly homedir: string;
}
