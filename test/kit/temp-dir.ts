// A temporary folder for one test; removed when the test process ends, whatever the test did.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const created: string[] = [];

/** Creates an empty folder with this prefix below the system's temporary folder. */
export function tempDir(prefix = "hermes-test-"): string {
  const path = mkdtempSync(join(tmpdir(), prefix));
  if (created.push(path) === 1) process.once("exit", removeAll);
  return path;
}

function removeAll(): void {
  for (const path of created) rmSync(path, { recursive: true, force: true, maxRetries: 2 });
}
