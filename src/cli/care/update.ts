// `hermes update` and `hermes uninstall`.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { openGatewayLocks } from "../../app/open-delivery.ts";
import { backups, rotateBackups, timeStamp } from "../../backup/api.ts";
import { openSettings } from "../../config/api.ts";
import { UserError } from "../../core/failure.ts";
import { isGatewayRunning } from "../../gateway-control/api/gateway-process.ts";
import { installedService, uninstallService } from "../../gateway-control/api/service-files.ts";
import { listProfileInfos, removeAlias } from "../../home/profiles/api.ts";
import { describeInstallation } from "../../install/api/installation.ts";
import { checkForUpdate, updateInstallation } from "../../install/api/update.ts";
import { copyDatabase, verifyDatabase } from "../../store/api/copy-database.ts";
import { type CliCommand, type CliContext, JSON_OPTION } from "../command.ts";

/** Before the update, when `updates.pre_update_backup` or --backup asks for it. */
async function backUp(context: CliContext): Promise<void> {
  const { home, terminal, values } = context;
  const { updates } = (await openSettings(home).load()).config;
  if (values["no-backup"] || !(values.backup || updates.pre_update_backup)) return;
  const folder = join(home.path, "backups");
  const target = join(folder, `pre-update-${timeStamp(new Date())}.zip`);
  const { version } = describeInstallation(home);
  const databases = { copy: copyDatabase, verify: verifyDatabase };
  const progress = terminal.progress("Copying", "bytes");
  await backups.make({
    home: home.path,
    target,
    quick: false,
    label: "before an update",
    version,
    databases,
    onProgress: progress,
  });
  await rotateBackups(folder, updates.backup_keep);
  terminal.err(`Backup: ${target}`);
}

async function update(context: CliContext): Promise<number> {
  const { home, terminal, values } = context;
  const installation = describeInstallation(home);
  const state = await checkForUpdate(installation, home.env);
  const text =
    state.behind === 0
      ? `hermes ${state.current} is up to date.`
      : `hermes ${state.current} → ${state.newest}${installation.kind === "checkout" ? `, ${state.behind} commits` : ""}`;
  if (values.json) terminal.out(JSON.stringify(state, null, 2));
  else terminal.out(text);
  if (values.check) {
    if (state.behind > 0 && !values.json) terminal.out("Update with: hermes update");
    return 0;
  }
  if (state.behind === 0) return 0;
  if (!values.yes && terminal.interactive && !(await terminal.confirm("Update now?"))) return 1;
  await backUp(context);
  await updateInstallation(installation, home.env, (line) => terminal.err(line));
  terminal.out(`Updated. Settings of a new layout: hermes doctor --fix`);
  if (await isGatewayRunning(home, openGatewayLocks(home)))
    terminal.out("The running gateway uses the old version until: hermes gateway restart");
  return 0;
}

export const updateCommand: CliCommand = {
  name: "update",
  summary: "Install the newest version; it is tried before it replaces this one",
  maxPositionals: 0,
  options: {
    check: { type: "boolean", help: "Only say whether there is a newer version" },
    backup: { type: "boolean", help: "Copy the home first" },
    "no-backup": { type: "boolean", help: "Do not copy the home, also when updates.pre_update_backup is set" },
    yes: { type: "boolean", short: "y", help: "Do not ask" },
    ...JSON_OPTION,
  },
  examples: ["hermes update --check", "hermes update"],
  run: update,
};

async function uninstall(context: CliContext): Promise<number> {
  const { home, terminal, values } = context;
  const installation = describeInstallation(home);
  if (await isGatewayRunning(home, openGatewayLocks(home)))
    throw new UserError("the gateway is running", { hint: "Stop it first: hermes gateway stop" });
  const full = values.full === true;
  if (!values.yes) {
    const question = full
      ? `This deletes ${home.root} with all conversations, keys and memory. Type delete to confirm: `
      : "Remove the service and the commands of profiles? Your data stays. Type yes to confirm: ";
    const typed = (await terminal.ask(question))?.trim();
    if (typed !== (full ? "delete" : "yes")) {
      terminal.err("Nothing was removed.");
      return 1;
    }
  }
  const service = { program: [process.execPath, process.argv[1] ?? ""], stopSeconds: 60 };
  if (installedService(home, service)) await uninstallService(home, service);
  const place = { root: home.root, bin: join(home.env.HOME ?? home.root, ".local", "bin") };
  for (const profile of listProfileInfos(place)) await removeAlias(place, profile.name);
  if (full) await rm(home.root, { recursive: true, force: true });
  terminal.out(full ? `Deleted ${home.root}.` : `Your data is still in ${home.root}.`);
  const command =
    installation.kind === "npm" ? `npm uninstall --global ${installation.packageName}` : `rm -r ${installation.root}`;
  terminal.out(
    `Remove the program itself with: ${installation.kind === "managed" ? `${installation.manager}` : command}`,
  );
  return 0;
}

export const uninstallCommand: CliCommand = {
  name: "uninstall",
  summary: "Remove the service and commands; with --full also all data",
  maxPositionals: 0,
  options: {
    full: { type: "boolean", help: "Delete the home with all data" },
    yes: { type: "boolean", short: "y", help: "Do not ask" },
  },
  run: uninstall,
};
