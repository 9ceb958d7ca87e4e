// Detection rates of the guard on held-out skills. The first-run rates, measured before any rule was changed, are what to
// expect for an unknown skill; the current rates only prevent regressions.
import { expect, test } from "vitest";
import { readSamples } from "../../../test/skill-samples/read-samples.ts";
import type { GuardVerdict } from "./finding.ts";
import { scanSkill } from "./scan-skill.ts";

/** Detected on the first run of each set, before any rule was changed because of it. */
const FIRST_RUN = [
  { set: 1, malicious: "15 of 51 dangerous, 7 caution", harmless: "5 of 47 dangerous, 3 caution" },
  { set: 2, malicious: "21 of 45 dangerous, 1 caution", harmless: "8 of 45 dangerous, 3 caution" },
  { set: 3, malicious: "15 of 30 dangerous, 2 caution", harmless: "4 of 30 dangerous, 0 caution" },
  { set: 4, malicious: "15 of 30 dangerous, 1 caution", harmless: "0 of 30 dangerous, 0 caution" },
] as const;

function scanSamples(name: string): { id: string; verdict: GuardVerdict }[] {
  return readSamples(name).map(({ id, files }) => ({ id, verdict: scanSkill(files).verdict }));
}

const count = (list: readonly { verdict: GuardVerdict }[], verdict: GuardVerdict): number =>
  list.filter((one) => one.verdict === verdict).length;

test.each(FIRST_RUN)("held-out set $set: malicious skills are found, harmless ones are not flagged", (first) => {
  const malicious = scanSamples(`held-out-${first.set}-malicious.txt`);
  const harmless = scanSamples(`held-out-${first.set}-harmless.txt`);
  process.stdout.write(
    `guard, held-out ${first.set}: malicious first ${first.malicious}, now ${count(malicious, "dangerous")} and ${count(malicious, "caution")}; ` +
      `harmless first ${first.harmless}, now ${count(harmless, "dangerous")} and ${count(harmless, "caution")}\n`,
  );
  expect(malicious.filter((one) => one.verdict === "safe")).toEqual([]);
  expect(harmless.filter((one) => one.verdict === "dangerous")).toEqual([]);
});
