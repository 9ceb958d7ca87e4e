// Backups with what they need from the store: consistent copies of the databases.
import { type BackupReport, backups, type DatabaseAccess } from "../../backup/api.ts";
import type { Home } from "../../core/home.ts";
import { describeInstallation } from "../../install/api/installation.ts";

export async function databaseAccess(): Promise<DatabaseAccess> {
  const { copyDatabase, verifyDatabase } = await import("../../store/copy-database.ts");
  return { copy: copyDatabase, verify: verifyDatabase };
}

/** A full backup to a file that does not exist yet. */
export async function backUpHome(home: Home, target: string, label = ""): Promise<BackupReport> {
  const { version } = describeInstallation(home);
  return backups.make({ home: home.path, target, quick: false, label, version, databases: await databaseAccess() });
}
