// The care of a home from a program: check it, and copy it.
import { resolve } from "node:path";
import type { BackupReport } from "../backup/api.ts";
import { openHome } from "../home/api.ts";
import type { DoctorReport } from "./doctor/doctor.ts";

export interface CareOptions {
  /** The home directory. Default: HERMES_HOME, else `~/.hermes`. */
  readonly home?: string | undefined;
}

function homeOf({ home }: CareOptions) {
  const opened = openHome([]).home;
  if (home === undefined) return opened;
  const path = resolve(home);
  return { ...opened, path, root: path, profile: "default", env: { ...opened.env, HERMES_HOME: path } };
}

/** Checks the home, the model, tools and chats; repairs what is safe with `fix`. */
export async function runDoctor(
  options: CareOptions & { readonly fix?: boolean | undefined } = {},
): Promise<DoctorReport> {
  const { runDoctor: run } = await import("./doctor/doctor.ts");
  return run(homeOf(options), { fix: options.fix });
}

/** Copies the home into one zip file, which must not exist, and verifies it; also while the home is in use. */
export async function backUpHome(file: string, options: CareOptions = {}): Promise<BackupReport> {
  const [{ backups }, { copyDatabase, verifyDatabase }, { describeInstallation }] = await Promise.all([
    import("../backup/api.ts"),
    import("../store/api/copy-database.ts"),
    import("../install/api/installation.ts"),
  ]);
  const home = homeOf(options);
  return backups.make({
    home: home.path,
    target: resolve(file),
    quick: false,
    label: "",
    version: describeInstallation(home).version,
    databases: { copy: copyDatabase, verify: verifyDatabase },
  });
}
