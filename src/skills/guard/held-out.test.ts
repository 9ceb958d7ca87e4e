// Detection rates of the guard on held-out skills. The first-run rates, measured before any rule was changed, are what to
// expect for an unknown skill; the current rates only prevent regressions.
import { expect, test } from "vitest";
import type { GuardVerdict } from "./finding.ts";
import { readSamples } from "./samples/samples.ts";
import { scanSkill } from "./scan-skill.ts";

/** Detected on the first run of each set, before any rule was changed because of it. */
const FIRST_RUN = [
  { set: 1, hostile: "15 of 51 dangerous, 7 doubtful", honest: "5 of 47 dangerous, 3 doubtful", allowMissed: 0 },
  { set: 2, hostile: "21 of 45 dangerous, 1 doubtful", honest: "8 of 45 dangerous, 3 doubtful", allowMissed: 1 },
  { set: 3, hostile: "15 of 30 dangerous, 2 doubtful", honest: "4 of 30 dangerous, 0 doubtful", allowMissed: 1 },
  { set: 4, hostile: "15 of 30 dangerous, 1 doubtful", honest: "0 of 30 dangerous, 0 doubtful", allowMissed: 2 },
] as const;

function judged(name: string): { id: string; verdict: GuardVerdict }[] {
  return readSamples(name).map(({ id, files }) => ({ id, verdict: scanSkill(files).verdict }));
}

const count = (list: readonly { verdict: GuardVerdict }[], verdict: GuardVerdict): number =>
  list.filter((one) => one.verdict === verdict).length;

test.each(FIRST_RUN)("held-out set $set: malicious skills are found, harmless ones are not flagged", (first) => {
  const hostile = judged(`held-out-${first.set}-hostile.txt`);
  const honest = judged(`held-out-${first.set}-honest.txt`);
  process.stdout.write(
    `guard, held-out ${first.set}: hostile first ${first.hostile}, now ${count(hostile, "dangerous")} and ${count(hostile, "caution")}; ` +
      `honest first ${first.honest}, now ${count(honest, "dangerous")} and ${count(honest, "caution")}\n`,
  );
  expect(hostile.filter((one) => one.verdict === "safe")).toEqual([]);
  expect(count(hostile, "caution")).toBeLessThanOrEqual(first.allowMissed);
  expect(honest.filter((one) => one.verdict === "dangerous")).toEqual([]);
});
