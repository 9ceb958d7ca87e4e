// The subcommands of `hermes sessions` that write: export, import, rename, delete, prune, optimize, repair.
import { createReadStream, createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { openForeignStore, sessionsDir } from "../../app/open-store.ts";
import { openSettings } from "../../config/api.ts";
import { UserError } from "../../core/failure.ts";
import type { ExportedSession, SessionStore } from "../../core/store/session.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { formatBytes } from "../../lib/terminal/columns.ts";
import { type CliContext, integerOption, textOption } from "../command.ts";
import { requireSession, withStore } from "../with-store.ts";

function printResult(context: CliContext, data: object, text: string): void {
  context.terminal.out(context.values.json ? JSON.stringify(data, null, 2) : text);
}

async function writeLine(target: Writable, line: string): Promise<void> {
  if (!target.write(`${line}\n`)) await new Promise<void>((resolve) => target.once("drain", resolve));
}

async function* sessionsToExport(store: SessionStore, context: CliContext): AsyncIterable<ExportedSession> {
  const wanted = textOption(context, "session-id");
  if (!wanted) {
    yield* store.exportAll(textOption(context, "source"));
    return;
  }
  const session = await store.exportSession(await requireSession(store, wanted));
  if (session) yield session;
}

export function exportSessions(context: CliContext): Promise<number> {
  const file = context.positionals[0];
  if (!file) throw new UserError("which file?", { hint: "Give a file name, or - for standard output", exitCode: 2 });
  return withStore(context, async (store) => {
    const target = file === "-" ? context.terminal.streams.stdout : createWriteStream(file, { mode: 0o600 });
    const broken = new Promise<never>((_, reject) => target.once("error", reject));
    broken.catch(() => undefined);
    let count = 0;
    const progress = context.terminal.progress("Exporting");
    const total = textOption(context, "session-id") ? 1 : await store.sessionCount(textOption(context, "source"));
    for await (const session of sessionsToExport(store, context)) {
      await Promise.race([writeLine(target, JSON.stringify(session)), broken]);
      progress(++count, total);
    }
    if (file !== "-") {
      await Promise.race([new Promise<void>((resolve) => target.end(() => resolve())), broken]);
      printResult(context, { exported: count, file }, `Exported ${count} session${count === 1 ? "" : "s"} to ${file}`);
    }
    return 0;
  });
}

/** An SQLite file begins with these bytes; anything else is read as JSON Lines. */
async function isDatabase(file: string): Promise<boolean> {
  const handle = await open(file, "r");
  try {
    const { buffer } = await handle.read({ buffer: Buffer.alloc(15), length: 15, position: 0 });
    return buffer.toString("latin1") === "SQLite format 3";
  } finally {
    await handle.close();
  }
}

async function* readJsonLines(
  input: Readable,
): AsyncIterable<{ line: number; session?: ExportedSession | undefined; problem?: string }> {
  let line = 0;
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1;
    if (text.trim() === "") continue;
    try {
      yield { line, session: JSON.parse(text) as ExportedSession };
    } catch (error) {
      yield { line, problem: `line ${line}: not JSON (${errorMessage(error)})` };
    }
  }
}

async function* sessionsToImport(
  file: string,
  context: CliContext,
): AsyncIterable<{ session?: ExportedSession | undefined; problem?: string }> {
  if (file === "-") yield* readJsonLines(context.terminal.streams.stdin);
  else if (await isDatabase(file)) {
    const foreign = await openForeignStore(file);
    try {
      for await (const session of foreign.exportAll()) yield { session };
    } finally {
      await foreign.close();
    }
  } else yield* readJsonLines(createReadStream(file));
}

export function importSessions(context: CliContext): Promise<number> {
  const file = context.positionals[0];
  if (!file)
    throw new UserError("which file?", {
      hint: "Give a file made by `hermes sessions export`, another state.db, or -",
      exitCode: 2,
    });
  return withStore(context, async (store) => {
    const total = { imported: 0, skipped: 0, messages: 0, problems: [] as string[] };
    const progress = context.terminal.progress("Importing");
    for await (const { session, problem } of sessionsToImport(file, context)) {
      if (problem) total.problems.push(problem);
      if (!session) continue;
      const result = await store.importSession(session);
      total.imported += result.imported;
      total.skipped += result.skipped;
      total.messages += result.messages;
      total.problems.push(...result.problems);
      progress(total.imported + total.skipped, total.imported + total.skipped + 1);
    }
    progress(1, 1);
    printResult(
      context,
      total,
      `Imported ${total.imported} sessions with ${total.messages} messages; ${total.skipped} existed already`,
    );
    if (!context.values.json) for (const problem of total.problems) context.terminal.err(`warning: ${problem}`);
    return total.problems.length > 0 && total.imported + total.skipped === 0 ? 1 : 0;
  });
}

export function renameSession(context: CliContext): Promise<number> {
  return withStore(context, async (store) => {
    const id = await requireSession(store, context.positionals[0]);
    const title = context.positionals.slice(1).join(" ");
    await store.setSessionTitle(id, title === "" ? null : title);
    const stored = await store.getSessionTitle(id);
    printResult(context, { id, title: stored }, stored ? `${id} is now "${stored}"` : `${id} has no title now`);
    return 0;
  });
}

async function confirmed(context: CliContext, question: string): Promise<boolean> {
  if (context.values.yes) return true;
  if (await context.terminal.confirm(question)) return true;
  context.terminal.err("Nothing was changed.");
  return false;
}

export function deleteSession(context: CliContext): Promise<number> {
  return withStore(context, async (store) => {
    const id = await requireSession(store, context.positionals[0]);
    const count = await store.messageCount(id);
    if (!(await confirmed(context, `Delete ${id} with its ${count} messages permanently?`))) return 1;
    await store.deleteSession(id, sessionsDir(context.home));
    printResult(context, { deleted: id, messages: count }, `Deleted ${id} (${count} messages)`);
    return 0;
  });
}

export function pruneSessions(context: CliContext): Promise<number> {
  return withStore(context, async (store) => {
    const olderThanDays = integerOption(context, "older-than", { default: 90, min: 0 });
    const source = textOption(context, "source");
    const which = `ended sessions that began more than ${olderThanDays} days ago${source ? ` from ${source}` : ""}`;
    if (!(await confirmed(context, `Delete ${which} permanently?`))) return 1;
    const pruned = await store.pruneSessions({
      olderThanDays,
      source: source || undefined,
      sessionsDir: sessionsDir(context.home),
      onProgress: context.terminal.progress("Pruning"),
    });
    printResult(context, { pruned }, `Deleted ${pruned} session${pruned === 1 ? "" : "s"}`);
    return 0;
  });
}

export function optimizeSessions(context: CliContext): Promise<number> {
  return withStore(context, async (store) => {
    const layout = context.values.inline ? "inline" : "compact";
    const before = await store.stats();
    await store.setIndexLayout(layout, context.terminal.progress(`Building the ${layout} index`));
    await openSettings(context.home).set("sessions.index", layout);
    if (!context.values["no-vacuum"]) await store.vacuum();
    const after = await store.stats();
    const text = `The search index is ${layout} now: ${formatBytes(before.fileBytes)} → ${formatBytes(after.fileBytes)}`;
    printResult(context, { layout, beforeBytes: before.fileBytes, afterBytes: after.fileBytes }, text);
    return 0;
  });
}

export function repairSessions(context: CliContext): Promise<number> {
  return withStore(context, async (store) => {
    const report = await store.repair(context.terminal.progress("Repairing"));
    const lines = [
      `Integrity  ${report.integrity}`,
      ...report.problems.map((problem) => `Problem    ${problem}`),
      ...report.repaired.map((repaired) => `Repaired   ${repaired}`),
      `Indexed    ${report.indexedRows} messages`,
    ];
    printResult(context, report, lines.join("\n"));
    return report.integrity === "ok" ? 0 : 1;
  });
}
