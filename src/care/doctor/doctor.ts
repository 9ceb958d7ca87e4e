// The doctor: runs every check of a home, repairs what is safe, and reports.
import { openSettings } from "../../config/api.ts";
import type { Home } from "../../core/home.ts";
import { type Check, type CheckResult, skipped } from "./check.ts";
import { homeChecks } from "./home-checks.ts";
import { machineChecks } from "./machine-checks.ts";
import { programChecks } from "./program-checks.ts";
import { runChecks } from "./run-checks.ts";
import { settingsChecks } from "./settings-checks.ts";

export interface DoctorReport {
  /** False when something does not work. */
  readonly ok: boolean;
  readonly errors: number;
  readonly warnings: number;
  readonly fixed: number;
  readonly results: readonly CheckResult[];
}

export interface DoctorOptions {
  /** Repair what can be repaired without losing anything. */
  readonly fix?: boolean | undefined;
  /** Called when a check has ended. */
  onProgress?(done: number, total: number): void;
}

/** False when the program refuses to start with these settings; the check of config.yaml says why. */
async function canStart(home: Home): Promise<boolean> {
  try {
    await openSettings(home).load();
    return true;
  } catch {
    // The check of config.yaml reports it.
    return false;
  }
}

/** The same checks without running them: what is wrong below would be reported by each of them again. */
function notRun(checks: readonly Check[], reason: string): Check[] {
  return checks.map((check) => ({ ...check, run: async () => [skipped(`${check.title}: not checked, ${reason}`)] }));
}

/** Two rounds: opening the program repairs indexes and modes, so the files are examined before. */
export async function runDoctor(home: Home, options: DoctorOptions = {}): Promise<DoctorReport> {
  const fix = options.fix ?? false;
  const { config } = await openSettings(home).inspect();
  const first = [...homeChecks(home), ...settingsChecks(home), ...machineChecks(home, config)];
  const second = programChecks(home);
  const total = first.length + second.length;
  let done = 0;
  const onDone = () => options.onProgress?.(++done, total);
  const results = await runChecks(first, { fix, onDone });
  const readable = !results.some(({ id, status }) => id === "store.state" && status === "error");
  const usable = readable && (await canStart(home));
  const reason = "because of the errors above";
  results.push(...(await runChecks(usable ? second : notRun(second, reason), { fix, onDone })));
  const count = (status: CheckResult["status"]) => results.filter((result) => result.status === status).length;
  return {
    ok: count("error") === 0,
    errors: count("error"),
    warnings: count("warning"),
    fixed: results.filter((result) => result.fixed !== null && result.status === "ok").length,
    results,
  };
}
