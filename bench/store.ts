// Bench: the session store against the plain statements on the same file, in the same run.
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import type { IndexLayout } from "../src/store/sqlite/index/layout.ts";
import { SqliteSessionStore } from "../src/store/sqlite-session-store.ts";
import { tempDir } from "../test/kit/temp-dir.ts";
import { Dice, messageAt } from "./corpus.ts";
import { type BenchFiles, buildFiles, MESSAGES_PER_SESSION, megabytes, sessionName } from "./store-files.ts";
import { openRaw, type Raw } from "./store-raw.ts";
import { type Line, printTable } from "./table.ts";

const SIZES: Readonly<Record<string, number>> = { small: 10_000, default: 100_000, large: 1_000_000 };
const WITHIN = { kind: "max", ratio: 1.3 } as const;
const APPENDS = 1000;
const APPENDS_AT_ONCE = 50;
const SHORT_CJK_MS = 10;

type Work = () => unknown;

async function time(work: Work): Promise<number> {
  const began = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - began) / 1e6;
}

/** The lower quartile: on a machine with other work it says more about the code than the median does. */
function typical(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)] ?? 0;
}

/** Alternates, so that both sides run under the same load. */
async function compare(what: string, ours: Work, raw: Work): Promise<Line> {
  const own: number[] = [];
  const plain: number[] = [];
  for (let i = 0; i < 3; i++) {
    await ours();
    raw();
  }
  const began = Date.now();
  for (let i = 0; i < 15 || (i < 200 && Date.now() - began < 800); i++) {
    own.push(await time(ours));
    plain.push(await time(raw));
  }
  const [mine, yardstick] = [typical(own), typical(plain)];
  return {
    what,
    ours: `${mine.toFixed(2)} ms`,
    raw: `${yardstick.toFixed(2)} ms`,
    ratio: mine / yardstick,
    budget: WITHIN,
  };
}

async function compareAppend(what: string, store: SqliteSessionStore, raw: Raw): Promise<Line> {
  const dice = new Dice(7);
  let own = 0;
  let plain = 0;
  for (let done = 0; done < APPENDS; done += APPENDS_AT_ONCE) {
    const texts = Array.from({ length: APPENDS_AT_ONCE }, (_, i) => messageAt(dice, i).content ?? "short");
    own += await time(async () => {
      for (const content of texts) await store.appendMessage(sessionName(1), { role: "user", content });
    });
    plain += await time(() => {
      for (const content of texts) raw.append(sessionName(2), content);
    });
  }
  const rate = (milliseconds: number) => `${((APPENDS / milliseconds) * 1000).toFixed(0)} /s`;
  return { what, ours: rate(own), raw: rate(plain), ratio: plain / own, budget: { kind: "min", ratio: 0.8 } };
}

async function searches(store: SqliteSessionStore, raw: Raw): Promise<Line[]> {
  const words: [string, string, string][] = [
    ["common word", "error", '"error"'],
    ["rare word", "xylophone", '"xylophone"'],
    ["two terms", "kubernetes rollback", '"kubernetes" AND "rollback"'],
    ["phrase", '"the file"', '"the file"'],
    ["prefix", "deploy*", '"deploy"*'],
    ["hyphenated", "docker-compose", '"docker-compose"'],
  ];
  const lines: Line[] = [];
  for (const [what, query, expression] of words) {
    lines.push(
      await compare(
        `search, ${what}`,
        () => store.searchMessages(query),
        () => raw.match("messages_fts", expression),
      ),
    );
  }
  await store.searchMessages("备份");
  const short = await compare(
    "search, two CJK characters",
    () => store.searchMessages("备份"),
    () => raw.like("备份"),
  );
  const absolute = { text: `≤ ${SHORT_CJK_MS} ms`, met: Number.parseFloat(short.ours) <= SHORT_CJK_MS };
  lines.push({ ...short, absolute });
  lines.push(
    await compare(
      "search, three CJK characters",
      () => store.searchMessages("数据库"),
      () => raw.match("messages_fts_trigram", '"数据库"'),
    ),
    await compare(
      "search, with a source filter",
      () => store.searchMessages("error", { sourceFilter: ["telegram"] }),
      () => raw.match("messages_fts", '"error"', "telegram"),
    ),
  );
  return lines;
}

/** The first search for short CJK words builds the side index; searches before it is complete read the messages. */
async function buildSideIndex(store: SqliteSessionStore): Promise<Line> {
  const began = Date.now();
  for (let last = Number.POSITIVE_INFINITY; ; ) {
    const took = await time(() => store.searchMessages("备份", { limit: 1 }));
    // A search that finds unindexed rows spends its whole time limit on indexing them.
    if (took < 45 && last < 45) break;
    last = took;
  }
  return {
    what: "side index for short CJK words",
    ours: `${((Date.now() - began) / 1000).toFixed(1)} s`,
    raw: "",
    ratio: undefined,
  };
}

async function measure(path: string, total: number): Promise<Line[]> {
  const store = await SqliteSessionStore.open({ path, runtimePath: `${path}.runtime` });
  const raw = openRaw(path);
  const session = sessionName(Math.floor(total / MESSAGES_PER_SESSION / 2));
  const lines = [
    await buildSideIndex(store),
    await compare(
      "list(20)",
      () => store.listSessions(),
      () => raw.list(),
    ),
    await compare(
      "list(20) by last activity",
      () => store.listSessions({ orderByLastActive: true }),
      () => raw.listByActivity(),
    ),
    await compare(
      "replay of 500 messages",
      () => store.getConversation(session),
      () => raw.replay(session),
    ),
    ...(await searches(store, raw)),
    await compareAppend("append, one transaction each", store, raw),
  ];
  raw.close();
  await store.close();
  return lines;
}

function sizeLines(files: BenchFiles): Line[] {
  return Object.entries(files.byLayout).map(([layout, path]) => ({
    what: `size on disk, ${layout}`,
    ours: `${megabytes(path)} MB`,
    raw: `${megabytes(files.base)} MB`,
    ratio: Number(megabytes(path)) / Number(megabytes(files.base)),
  }));
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { size: { type: "string", default: "default" }, layout: { type: "string", default: "both" } },
  });
  const total = SIZES[values.size];
  const layouts: IndexLayout[] = values.layout === "both" ? ["inline", "compact"] : [values.layout as IndexLayout];
  if (total === undefined || !["both", "inline", "compact"].includes(values.layout)) {
    console.error("usage: npm run bench -- store [--size small|default|large] [--layout inline|compact|both]");
    process.exitCode = 2;
    return;
  }
  const folder = tempDir("hermes-store-bench-");
  try {
    const files = await buildFiles(folder, total, layouts, console.log);
    let missed = printTable("Size (against the messages without search)", sizeLines(files));
    for (const [layout, path] of Object.entries(files.byLayout)) {
      missed += printTable(`${total} messages, ${layout} layout`, await measure(path, total));
    }
    console.log(missed === 0 ? "\nAll budgets met." : `\n${missed} budgets missed.`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
