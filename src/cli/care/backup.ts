// `hermes backup` and `hermes import`: a verified copy of the home, and its restoration.
import { homedir } from "node:os";
import { resolve } from "node:path";
import { openGatewayLocks } from "../../app/open-delivery.ts";
import { backups, defaultTarget, pruneSnapshots } from "../../backup/api.ts";
import { UserError } from "../../core/failure.ts";
import { isGatewayRunning } from "../../gateway-control/api/gateway-process.ts";
import { describeInstallation } from "../../install/api/installation.ts";
import { formatBytes } from "../../lib/terminal/columns.ts";
import { copyDatabase, verifyDatabase } from "../../store/api/copy-database.ts";
import { type CliCommand, type CliContext, JSON_OPTION, textOption } from "../command.ts";

const DATABASES = { copy: copyDatabase, verify: verifyDatabase };

async function runBackup(context: CliContext): Promise<number> {
  const { home, terminal, values } = context;
  const quick = values.quick === true;
  const named = textOption(context, "output");
  const place = { home: home.path, userHome: home.env.HOME || homedir() };
  const target = named ? resolve(home.cwd, named) : defaultTarget(place, quick, new Date());
  const report = await backups.make({
    home: home.path,
    target,
    quick,
    label: textOption(context, "label") ?? "",
    version: describeInstallation(home).version,
    databases: DATABASES,
    onProgress: terminal.progress("Copying", "bytes"),
  });
  if (quick && !named) await pruneSnapshots(home.path);
  if (values.json) terminal.out(JSON.stringify(report, null, 2));
  else {
    terminal.out(`${report.file}`);
    terminal.out(
      `${report.files} files, ${formatBytes(report.bytes)} in ${formatBytes(report.packed)}; read back and verified.`,
    );
    terminal.out("It contains your keys and conversations: keep it as private as the home.");
  }
  return 0;
}

export const backupCommand: CliCommand = {
  name: "backup",
  summary: "Copy the home into one verified file, also while Hermes runs",
  maxPositionals: 0,
  options: {
    output: {
      type: "string",
      short: "o",
      value: "FILE",
      help: "The file (hermes-backup-TIME.zip in your home directory)",
    },
    quick: {
      type: "boolean",
      short: "q",
      help: "Only settings, keys, sessions, jobs and notes, into state-snapshots/",
    },
    label: { type: "string", short: "l", value: "TEXT", help: "A note that is stored with it" },
    ...JSON_OPTION,
  },
  examples: ["hermes backup", "hermes backup -o /mnt/usb/hermes.zip", "hermes backup --quick -l 'before the update'"],
  run: runBackup,
};

async function runImport(context: CliContext): Promise<number> {
  const { home, terminal, values, positionals } = context;
  const [name] = positionals;
  if (!name)
    throw new UserError("which backup?", { hint: "For example: hermes import hermes-backup-….zip", exitCode: 2 });
  if (await isGatewayRunning(home, openGatewayLocks(home)))
    throw new UserError("the gateway is running and would write into the restored files", {
      hint: "Stop it first: hermes gateway stop. Close other Hermes windows too.",
    });
  const file = resolve(home.cwd, name);
  const { manifest, names, bytes } = await backups.verify(file);
  const made = manifest ? `made ${manifest.created_at} by ${manifest.version}` : "made by Hermes Agent";
  const what = `${names.length} files, ${formatBytes(bytes)}, ${made}`;
  if (
    !values.force &&
    !(await terminal.confirm(`Restore ${what} into ${home.path}? Files of the same name are replaced.`))
  ) {
    terminal.err("Nothing was changed. Without a terminal, add --force.");
    return 1;
  }
  const report = await backups.restore({
    home: home.path,
    file,
    databases: DATABASES,
    onProgress: terminal.progress("Restoring", "bytes"),
  });
  const { files, replaced, before } = report;
  if (values.json) terminal.out(JSON.stringify({ files, replaced, before }, null, 2));
  else {
    terminal.out(`Restored ${files} files into ${home.path}.`);
    if (replaced > 0) terminal.out(`The ${replaced} files that were replaced are in ${before}.`);
    terminal.out("Check it: hermes doctor");
  }
  return 0;
}

export const importCommand: CliCommand = {
  name: "import",
  args: "FILE",
  summary: "Restore a backup; it is verified first, and nothing is half restored",
  maxPositionals: 1,
  options: { force: { type: "boolean", short: "f", help: "Do not ask" }, ...JSON_OPTION },
  examples: ["hermes import ~/hermes-backup-2026-11-17-132024.zip"],
  run: runImport,
};
