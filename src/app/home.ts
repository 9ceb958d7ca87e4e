// The home directory, the profile and the environment: read once here, passed on as data.

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
  /** HOME for child processes, when the home brings its own. */
  readonly childHome: string | null;
}
