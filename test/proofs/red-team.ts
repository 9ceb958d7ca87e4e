// Proof: the effects of the attacks of test/corpus on a canary home when the model makes them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Attempt, Outcome } from "../red-team/attempt.ts";
import { CORPORA, type CorpusName, readCorpus } from "../red-team/corpus.ts";
import { describe, familyTable, ranAs } from "../red-team/report.ts";
import { runAttempts } from "../red-team/run-attempts.ts";
import { openSandbox, publicAddressProblem, type Sandbox, sandboxProblem } from "../red-team/sandbox.ts";

const USAGE = `usage: npm run proof -- red-team [corpus or id …] [--json FILE]
corpora: ${CORPORA.join(", ")}; all of them without a name
`;

interface Options {
  readonly corpora: readonly CorpusName[];
  readonly ids: ReadonlySet<string>;
  readonly json: string | undefined;
}

function parseOptions(args: readonly string[]): Options | undefined {
  const at = args.indexOf("--json");
  const json = at < 0 ? undefined : args[at + 1];
  const names = at < 0 ? args : args.filter((_, index) => index !== at && index !== at + 1);
  if (names.some((name) => name.startsWith("-"))) return undefined;
  const chosen = CORPORA.filter((name) => names.includes(name));
  const ids = new Set(names.filter((name) => !chosen.some((corpus) => corpus === name)));
  return { corpora: chosen.length > 0 ? chosen : CORPORA, ids, json };
}

function percent(part: number, whole: number): string {
  return whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`;
}

/** Everyday commands: run without a question, and with the same exit code as in a plain bash. */
async function harmless(sandbox: Sandbox, outcomes: readonly Outcome[]): Promise<string> {
  const plain = outcomes.map((outcome) => ({ ...outcome.attempt, kind: "shell" }) as Attempt);
  const shells = await runAttempts(sandbox, plain);
  const ran = outcomes.map(ranAs);
  const same = ran.filter((run, index) => run && run.exitCode === shells[index]?.seen.exitCode).length;
  const differing = outcomes.filter((_, index) => ran[index] && ran[index]?.exitCode !== shells[index]?.seen.exitCode);
  const refused = outcomes.filter((outcome) => outcome.verdict === "denied");
  const guided = outcomes.filter((outcome, index) => !ran[index] && outcome.verdict !== "denied");
  const total = ran.filter(Boolean).length;
  const list = (name: string, items: readonly Outcome[]) =>
    items.map((item) => `- ${name}: ${item.attempt.id} \`${String(item.attempt.calls[0]?.args.command)}\``);
  return [
    `${outcomes.length} commands: ${total} run without a question (${percent(total, outcomes.length)}), ${refused.length} denied, ${guided.length} sent elsewhere; ` +
      `${same} of ${total} with the exit code of plain bash (${percent(same, total)}).`,
    ...list("denied", refused),
    ...list("sent elsewhere", guided),
    ...list("another exit code", differing),
  ].join("\n");
}

async function proveCorpus(sandbox: Sandbox, name: CorpusName, options: Options): Promise<Outcome[]> {
  const all = readCorpus(process.cwd(), name).filter((item) => options.ids.size === 0 || options.ids.has(item.id));
  const missing = publicAddressProblem();
  const attempts = missing ? all.filter((item) => !item.publicAddress) : all;
  if (attempts.length === 0) return [];
  const begun = Date.now();
  const outcomes = await runAttempts(sandbox, attempts, () => process.stderr.write("."));
  process.stderr.write("\n");
  const seconds = Math.round((Date.now() - begun) / 1000);
  const left = all.length - attempts.length;
  const note = left > 0 ? ` ${left} not run: ${missing}.` : "";
  process.stdout.write(`\n## ${name} (${seconds} s)${note}\n`);
  if (name === "harmless") process.stdout.write(`${await harmless(sandbox, outcomes)}\n`);
  else {
    process.stdout.write(`${familyTable(outcomes)}\n\n`);
    const wanted = outcomes.filter((outcome) => outcome.attempt.aims.length > 0);
    for (const outcome of wanted.filter((item) => item.verdict === "executed"))
      process.stdout.write(`- ${describe(outcome)}\n`);
  }
  const slow = outcomes.filter((outcome) => outcome.seen.timedOut).map((outcome) => outcome.attempt.id);
  if (slow.length > 0) process.stdout.write(`\nOut of time: ${slow.join(", ")}\n`);
  return outcomes;
}

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  const problem = sandboxProblem();
  if (!options || problem) {
    process.stderr.write(options ? `cannot run here: ${problem}\n` : USAGE);
    return 2;
  }
  const root = process.cwd();
  const sandbox = await openSandbox({ root, dist: join(root, "dist") });
  const outcomes: Outcome[] = [];
  try {
    for (const name of options.corpora) outcomes.push(...(await proveCorpus(sandbox, name, options)));
  } finally {
    sandbox.remove();
    if (options.json) writeFileSync(options.json, JSON.stringify(outcomes, null, 1));
  }
  return 0;
}

process.exit(await main());
