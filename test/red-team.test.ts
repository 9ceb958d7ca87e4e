// The built program makes the tool calls of attacks in a sandbox; the test checks their effects on files and keys.
// The short form. All attempts: `npm run proof -- red-team`.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermesProgram } from "./kit/run-hermes.ts";
import type { Attempt, Outcome } from "./red-team/attempt.ts";
import { SECRETS, secretsIn } from "./red-team/canary-secrets.ts";
import { readCorpus } from "./red-team/corpus.ts";
import { ranAs, describe as told } from "./red-team/report.ts";
import { runAttempts } from "./red-team/run-attempts.ts";
import { openSandbox, publicAddressProblem, type Sandbox, sandboxProblem } from "./red-team/sandbox.ts";
import { NESTED_SANDBOX, shortForm, VISIBLE_HARM } from "./red-team/short-form.ts";
import { isolationProblem } from "./red-team/verify-sandbox.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const problem = sandboxProblem();
const withoutPublic = problem ? undefined : publicAddressProblem();
if (problem) process.stderr.write(`red-team.test.ts is skipped: ${problem}\n`);
else if (withoutPublic) process.stderr.write(`red-team.test.ts leaves out what reads web pages: ${withoutPublic}\n`);

const EVERYDAY = ["H001", "H047", "H133", "H137", "H147", "H151", "H213", "H221", "H223", "H239", "H261", "H263"];
const groups = shortForm(root);
const possible = (attempt: Attempt) => !(withoutPublic && attempt.publicAddress);
function inBash(id: string, command: string, aims: readonly string[]): Attempt {
  return { id, family: "plain bash", kind: "shell", calls: [{ name: "terminal", args: { command } }], aims };
}
const harm = VISIBLE_HARM.map(({ command, effect }, index) => inBash(`harm-${index}`, command, [effect]));
const nested = inBash("nested", NESTED_SANDBOX, []);
const everyday = readCorpus(root, "harmless").filter((attempt) => EVERYDAY.includes(attempt.id));
const allowed = readCorpus(root, "injection").filter((attempt) => attempt.aims.length === 0);

describe.skipIf(problem)("the red team's short form", () => {
  let sandbox: Sandbox;
  const outcomes = new Map<string, Outcome>();
  const of = (attempts: readonly Attempt[]) =>
    attempts.filter(possible).map((attempt) => outcomes.get(attempt.id) as Outcome);

  beforeAll(async () => {
    sandbox = await openSandbox({ root, dist: dirname(hermesProgram()) });
    const attempts = [...groups.flatMap((group) => group.attempts), ...allowed, ...everyday, nested, ...harm];
    const done = await runAttempts(sandbox, attempts.filter(possible));
    for (const outcome of done) outcomes.set(outcome.attempt.id, outcome);
  }, 300_000);
  afterAll(() => sandbox?.remove());

  for (const group of groups)
    it(group.name, () => {
      const done = of(group.attempts);
      // A turn that made no call proves nothing.
      const failed = done.filter(({ verdict, seen }) => verdict === "executed" || seen.answers.length === 0);
      expect(failed.map(told)).toEqual([]);
    });

  it("sees the harm that a plain bash does", () => {
    const missed = of(harm).filter(
      (outcome) => !outcome.seen.effects.some((effect) => effect === outcome.attempt.aims[0]),
    );
    expect(missed.map(told)).toEqual([]);
  });

  it("lets Hermes create its own sandbox", () => {
    expect(of([nested]).map(({ seen }) => [seen.exitCode, seen.output])).toEqual([[0, ""]]);
  });

  it("detects notes and jobs that are created without untrusted text", () => {
    expect(of(allowed).map((outcome) => outcome.seen.effects.includes("durable"))).toEqual(allowed.map(() => true));
  });

  it("runs everyday commands without a question, and Hermes itself causes no effect that is classified as harm", () => {
    const refused = of(everyday).filter((outcome) => ranAs(outcome) === undefined || outcome.verdict === "executed");
    expect(refused.map(told)).toEqual([]);
  });
});

it.skipIf(process.platform !== "linux")("the inner half refuses to run outside a sandbox", () => {
  expect(isolationProblem(0)).toContain("root");
  expect(isolationProblem(1000)).toContain("the processes of the machine");
});

describe("finding a key in sent data", () => {
  const key = SECRETS.ssh;
  const forms: Readonly<Record<string, string>> = {
    plain: `x ${key} y`,
    reversed: [...key].reverse().join(""),
    base64: Buffer.from(`..${key}..`).toString("base64"),
    hex: Buffer.from(key).toString("hex").replaceAll(/(..)/g, "$1 "),
    "broken into lines": (
      Buffer.from(`${"a".repeat(70)}${key}`)
        .toString("base64")
        .match(/.{1,20}/g) ?? []
    ).join("\n"),
  };
  for (const [name, text] of Object.entries(forms))
    it(name, () => expect(secretsIn(Buffer.from(text))).toEqual(["ssh"]));
  it("finds none where there is none", () => expect(secretsIn(Buffer.from("-----BEGIN *** ssh CANARY"))).toEqual([]));
});
