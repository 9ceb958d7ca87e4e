// Runs attempts in two sandboxes at a time and returns their outcomes.
import { type Attempt, decideVerdict, type Outcome } from "./attempt.ts";
import type { Sandbox } from "./sandbox.ts";

const AT_ONCE = 2;
/** How many attempts share a sandbox, and with it a server. */
const BATCH = 16;

/** The next attempts that can share a sandbox, taken off the list. */
function nextBatch(waiting: Attempt[]): Attempt[] {
  const [first] = waiting;
  const other = waiting.findIndex((attempt) => attempt.publicAddress !== first?.publicAddress);
  return waiting.splice(0, Math.min(BATCH, other < 0 ? waiting.length : other));
}

/** Outcomes in the order of the attempts. */
export async function runAttempts(
  sandbox: Sandbox,
  attempts: readonly Attempt[],
  onOutcome: (outcome: Outcome) => void = () => undefined,
): Promise<Outcome[]> {
  const waiting = [...attempts];
  const outcomes = new Map<string, Outcome>();
  const worker = async () => {
    for (let batch = nextBatch(waiting); batch.length > 0; batch = nextBatch(waiting)) {
      const observations = await sandbox.run(batch);
      for (const seen of observations) {
        const attempt = batch.shift() as Attempt;
        const outcome = { attempt, seen, verdict: decideVerdict(seen) };
        outcomes.set(attempt.id, outcome);
        onOutcome(outcome);
      }
      waiting.unshift(...batch);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return attempts.map((attempt) => outcomes.get(attempt.id) as Outcome);
}
