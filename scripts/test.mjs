// Runs the static checks, then the unit and end-to-end tests. The last line is `N passed, M failed`.
// Arguments are file filters for vitest; with any, the static checks are skipped.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runChecks } from "./check.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const filters = process.argv.slice(2);

function runVitest(reportFile) {
  const args = [join(root, "node_modules", "vitest", "vitest.mjs"), "run", ...filters];
  args.push("--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`);
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
    child.on("close", (code) => resolve(code ?? 1));
  });
}

const dir = mkdtempSync(join(tmpdir(), "hermes-test-report-"));
const checkResults = filters.length > 0 ? [] : await runChecks();
const code = await runVitest(join(dir, "report.json"));
let passed = checkResults.filter((result) => result.ok).length;
let failed = checkResults.length - passed;
let skipped = 0;
try {
  const report = JSON.parse(readFileSync(join(dir, "report.json"), "utf8"));
  passed += report.numPassedTests;
  failed += Math.max(report.numFailedTests, report.numFailedTestSuites > 0 && report.numFailedTests === 0 ? 1 : 0);
  skipped = report.numPendingTests + report.numTodoTests;
} catch (error) {
  process.stdout.write(`no test report: ${error.message}\n`);
  failed += 1;
}
if (code !== 0 && failed === 0) failed = 1;
rmSync(dir, { recursive: true, force: true });
process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`);
process.exit(failed === 0 ? 0 : 1);
