// `hermes plugins` in a terminal: arrow keys and Enter switch plugins; nothing is written before the user saves.

import { openPluginActions } from "../app/plugin-actions.ts";
import { pick } from "../lib/terminal/picker.ts";
import type { PluginRow } from "../plugins/api.ts";
import type { CliContext } from "./command.ts";

/** Memory providers and context engines are chosen elsewhere, one of each; built-in plugins always run. */
function switchable(row: PluginRow): boolean {
  return !["memory", "exclusive", "context-engine"].includes(row.kind) && row.status !== "built in";
}

function choiceLabel(row: PluginRow, on: boolean): string {
  const about = row.problem ? `does not work: ${row.problem}` : row.description;
  return `${on ? "[x]" : "[ ]"} ${row.key}${about ? `: ${about}` : ""}`;
}

/** The choice, or null when the user leaves without saving. */
async function ask(context: CliContext, rows: readonly PluginRow[]): Promise<ReadonlyMap<string, boolean> | null> {
  const now = new Map(rows.map((row) => [row.key, row.status === "enabled"]));
  const title = "Plugins (Enter switches, Esc cancels)";
  for (let start = 0; ; ) {
    const choices = rows.map((row) => ({ label: choiceLabel(row, now.get(row.key) ?? false), value: row.key }));
    const chosen = await pick(context.terminal, title, [{ label: "Save and leave", value: "" }, ...choices], { start });
    if (chosen === null) return null;
    if (chosen === "") return now;
    now.set(chosen, !now.get(chosen));
    start = rows.findIndex((row) => row.key === chosen) + 1;
  }
}

/** Runs `list` when there is no terminal or nothing to switch. */
export async function choosePlugins(
  context: CliContext,
  list: (context: CliContext) => Promise<number>,
): Promise<number> {
  const { terminal } = context;
  if (!terminal.interactive || context.values.json) return list(context);
  const actions = openPluginActions(context.home);
  const rows = (await actions.list()).filter(switchable);
  if (rows.length === 0) return list(context);
  const wanted = await ask(context, rows);
  if (!wanted) return 1;
  const changed = rows.filter((row) => wanted.get(row.key) !== (row.status === "enabled"));
  for (const { key } of changed) {
    const on = wanted.get(key) === true;
    await (on ? actions.enable(key) : actions.disable(key));
    terminal.out(on ? `${key} is enabled; it takes effect at the next start.` : `${key} is disabled.`);
  }
  if (changed.length === 0) terminal.out("Nothing was changed.");
  return 0;
}
