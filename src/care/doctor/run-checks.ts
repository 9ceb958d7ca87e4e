// Runs checks at the same time, each with a deadline, and repairs what may be repaired.
import { formatError, UserError } from "../../core/failure.ts";
import { withTimeout } from "../../lib/async/with-timeout.ts";
import type { Check, CheckResult, Finding } from "./check.ts";
import { warning, wrong } from "./check.ts";

/** Long enough for a slow machine: these checks only read the disk. */
const TIMEOUT_MS = 45_000;

/** A check that throws or does not end is itself a finding. */
async function findingsOf(check: Check): Promise<readonly Finding[]> {
  const limit = check.timeoutMs ?? TIMEOUT_MS;
  const stop = new AbortController();
  try {
    return await withTimeout(check.run(stop.signal), limit, () => {
      stop.abort();
      const make = check.timeoutMs === undefined ? warning : wrong;
      const remedy = "Check the disk and the network, then try again.";
      return [make(`${check.title}: no result after ${limit / 1000} s`, remedy)];
    });
  } catch (error) {
    const hint = error instanceof UserError ? error.hint : undefined;
    const what = error instanceof UserError ? error.message : formatError(error);
    return [wrong(`${check.title}: ${what}`, hint ?? "hermes logs errors has the details.")];
  }
}

async function repaired(finding: Finding, fix: boolean): Promise<Pick<CheckResult, "status" | "fixed">> {
  if (!fix || !finding.fix) return { status: finding.status, fixed: null };
  try {
    return { status: "ok", fixed: await finding.fix() };
  } catch (error) {
    return { status: finding.status, fixed: `could not be repaired: ${formatError(error)}` };
  }
}

/** Results in the order of the checks. With `fix`, repairs run one after the other when all checks have ended. */
export async function runChecks(
  checks: readonly Check[],
  options: { readonly fix: boolean; onDone?(check: Check): void },
): Promise<CheckResult[]> {
  const found = await Promise.all(
    checks.map(async (check) => {
      const findings = await findingsOf(check);
      options.onDone?.(check);
      return findings;
    }),
  );
  const results: CheckResult[] = [];
  for (const [index, findings] of found.entries()) {
    const check = checks[index];
    if (!check) continue;
    const { id, area, title } = check;
    for (const finding of findings)
      results.push({
        id,
        area,
        title,
        what: finding.what,
        remedy: finding.remedy,
        fixable: finding.fix !== undefined,
        ...(await repaired(finding, options.fix)),
      });
  }
  return results;
}
