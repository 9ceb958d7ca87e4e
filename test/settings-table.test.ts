// docs/security.md: each row of the table of settings is what the gate decides.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import type { Intent } from "../src/core/gate.ts";
import { absentHuman, type Human } from "../src/core/human.ts";
import { createGate } from "../src/security/gate/gate.ts";
import { createPathGuard } from "../src/security/path-guard.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const userHome = "/home/ada";
const hermesHome = "/home/ada/.hermes";
const cwd = "/home/ada/project";

interface Row {
  readonly backend: string;
  readonly container: string;
  readonly mode: string;
  readonly yolo: boolean;
  readonly who: string;
  readonly cells: readonly string[];
}

const COMMANDS = ["rm -rf build", "git push", "sudo apt-get update", "rm -rf ~"];

function readRows(): Row[] {
  const text = readFileSync(join(root, "docs", "security.md"), "utf8");
  const lines = text.split("\n").filter((line) => /^\| (?:local|ssh|docker) /.test(line));
  return lines.map((line) => {
    const [backend = "", container = "", mode = "", yolo, who = "", ...cells] = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    return { backend, container, mode, yolo: yolo === "yes", who, cells };
  });
}

/** True in a container, false when there should be one, undefined where the machine is the boundary. */
function isContained({ backend, container }: Row): boolean | undefined {
  if (backend !== "local" || container === "host") return undefined;
  return container === "yes";
}

async function decide(row: Row, command: string): Promise<string> {
  let asked = false;
  const present: Human = {
    ...absentHuman,
    present: true,
    approve: async () => {
      asked = true;
      return { choice: "once" };
    },
  };
  const isJob = row.who.startsWith("job");
  const human = row.who === "you" || row.who.startsWith("you,") || row.who === "job, approve" ? present : absentHuman;
  const gate = createGate({
    userHome,
    hermesHome,
    pathGuard: createPathGuard({ userHome, hermesHome }),
    policy: () => ({
      mode: row.mode as "manual" | "smart" | "off",
      yolo: row.yolo,
      approvalTimeoutMs: 1_000,
      sudoPassword: false,
    }),
    judge: async () => "escalate",
    allowlist: row.who.endsWith("listed")
      ? [`exact [recursive_delete] in ${cwd}: rm -rf build`, "recursive delete"]
      : [],
  });
  const contained = isContained(row);
  const intent: Intent = { kind: "command", command, cwd, backend: row.backend, workspace: cwd, contained };
  const verdict = await gate.check(intent, {
    sessionId: "s",
    toolName: "terminal",
    human,
    tainted: false,
    workspace: cwd,
    signal: new AbortController().signal,
  });
  if (!verdict.allowed) return "refused";
  if (asked && !isJob) return "asked";
  return contained ? "contained" : "runs";
}

it("every row of the table of settings", async () => {
  const rows = readRows();
  expect(rows.length).toBeGreaterThan(15);
  for (const row of rows) {
    const found = await Promise.all(COMMANDS.map((command) => decide(row, command)));
    expect(found, `${row.backend} ${row.container} ${row.mode} ${row.yolo} ${row.who}`).toEqual(row.cells);
  }
});
