// /snapshot: quick backups of the home's settings, keys, sessions, jobs and notes.
import type { CommandAnswer } from "../core/chat/command.ts";
import { answerErrors, type BuiltinCommand, text, words } from "./builtin-command.ts";
import type { CommandDeps, SnapshotRow } from "./command-deps.ts";
import { age, plural } from "./format.ts";

const KEPT = 20;

function restoreHint({ file }: SnapshotRow): string {
  return `A snapshot is restored while Hermes does not run. Leave, then: hermes import ${file}`;
}

async function snapshot({ snapshots }: CommandDeps, args: string): Promise<CommandAnswer> {
  const [verb = "", ...rest] = words(args);
  if (verb === "create") {
    const { file, bytes } = await snapshots.create(rest.join(" "));
    return text(`${file} (${Math.ceil(bytes / 1024)} KB), read back and verified.`);
  }
  if (verb === "prune") {
    const keep = rest.length === 0 ? KEPT : Number(rest[0]);
    if (!Number.isInteger(keep) || keep < 0) return text("How many stay? /snapshot prune 5");
    return text(`Removed ${plural(await snapshots.prune(keep), "snapshot")}.`);
  }
  const found = await snapshots.list();
  if (verb === "restore") {
    const wanted =
      found.find((each) => each.name.startsWith(rest.join(" "))) ?? (rest.length === 0 ? found[0] : undefined);
    return text(wanted ? restoreHint(wanted) : `There is no snapshot ${rest.join(" ")}. See /snapshot`);
  }
  if (verb !== "" && verb !== "list") return text("Usage: /snapshot, /snapshot create [LABEL], restore ID, prune N");
  if (found.length === 0) return text("There are no snapshots. Make one: /snapshot create [LABEL]");
  const now = Date.now() / 1000;
  return {
    type: "choose",
    title: "Snapshots of this home",
    choices: found.map((each) => ({
      label: each.name,
      value: `restore ${each.name}`,
      description: `${age(now - each.at)} ago, ${Math.ceil(each.bytes / 1024)} KB`,
    })),
  };
}

export function snapshotCommands(deps: CommandDeps): readonly BuiltinCommand[] {
  return [
    {
      name: "snapshot",
      aliases: ["snap"],
      group: "Program",
      args: "[create label|restore id|prune number]",
      surface: "terminal",
      summary: "Quick backups of settings, keys and sessions",
      whileBusy: true,
      ownerOnly: true,
      run: (args) => answerErrors(() => snapshot(deps, args)),
    },
  ];
}
