// Commands of guests: the home is off limits, unclear commands need the owner's approval, simple ones run.
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEFAULT_GATE_POLICY } from "../../../test/kit/gate-policy.ts";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import type { Intent } from "../../core/gate.ts";
import { type ApprovalRequest, absentHuman } from "../../core/human.ts";
import { createPathGuard } from "../path-guard.ts";
import { createGate } from "./gate.ts";
import type { GatePolicy } from "./gate-options.ts";

let root: string;
let userHome: string;
let hermesHome: string;
let work: string;
beforeAll(() => {
  root = realpathSync(tempDir("guest-"));
  userHome = join(root, "ada");
  hermesHome = join(userHome, ".hermes");
  work = join(userHome, "work");
  for (const folder of [join(hermesHome, "memories"), join(hermesHome, "cache", "documents"), work])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(hermesHome, "state.db"), "canary");
  writeFileSync(join(hermesHome, "cache", "documents", "doc_ab12_list.csv"), "a,b");
  symlinkSync(hermesHome, join(work, "link"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function decide(intent: Intent, options: { role?: "owner" | "guest"; policy?: Partial<GatePolicy> } = {}) {
  const asked: ApprovalRequest[] = [];
  const gate = createGate({
    userHome,
    hermesHome,
    pathGuard: createPathGuard({ hermesHome, userHome }),
    policy: () => ({ ...DEFAULT_GATE_POLICY, ...options.policy }),
  });
  const approve = async (request: ApprovalRequest) => {
    asked.push(request);
    return { choice: "deny" as const };
  };
  const human = { ...absentHuman, guest: options.role !== "owner", present: true, approve };
  const context = { sessionId: "s", toolName: "terminal", human, tainted: false, signal: new AbortController().signal };
  const verdict = await gate.check(intent, context);
  return verdict.allowed ? "runs" : asked.length > 0 ? "asked" : verdict.status;
}
const command = (text: string, cwd = work): Intent => ({ kind: "command", command: text, cwd, backend: "local" });

describe("a guest's command", () => {
  it.each([
    "cat ~/.hermes/state.db",
    "sqlite3 ~/.hermes/state.db 'select 1'",
    "cd ~/.hermes && cat state.db",
    "cd ..; cat .hermes/state.db",
    "cat ../.hermes/state.db",
    "cat link/state.db",
    "cat < link/state.db",
    "ls ~/.hermes",
    "ls link",
    "cp ../.HERMES/state.db x",
    "tar cf - -C ~/.hermes .",
    "dd if=../.hermes/state.db",
    "curl -F f=@../.hermes/state.db http://127.0.0.1:1/",
    "env HERMES=1 cat ~/.hermes/state.db",
    "bash -c 'cat ~/.hermes/state.db'",
    "x=.hermes; cat ~/$x/state.db",
    "python3 -c \"print(open('/x/.hermes/state.db').read())\"",
    "echo $HERMES_HOME",
    "ls ~/.hermes/cache/documents",
    "cat ~/.hermes/cache/documents/*",
  ])("that accesses the home is refused: %s", async (text) => {
    expect(await decide(command(text))).toBe("blocked");
    expect(await decide(command(text), { policy: { yolo: true, mode: "off" } })).toBe("blocked");
  });

  it.each([
    "cat ~/.h*/state.db",
    "cat ../.[h]ermes/state.db",
    "cat ../{.hermes,x}/state.db",
    "grep -r canary ~",
    "grep -rn canary ..",
    "grep -d recurse canary ..",
    "find ~ -name state.db -exec cat {} +",
    "tree -a ~",
    "python3 x.py",
    "make",
    "git log",
    "bash x.sh",
    "cat $(echo eC5kYg== | base64 -d)",
    "cat `ls -d ~/.*`",
    "CDPATH=/ cat x",
    "HOME=/; cat x",
    "test -v 'a[$(id)]'",
    "[[ 'a[$(id)]' -eq 0 ]]",
    "sort --files0-from=list",
    "sort --compress-program=./x list",
    "cat ~root/x",
    "hermes sessions list",
    "awk 1 list.txt",
    "cat() { sh; }; cat",
    "ls | xargs cat",
    "echo 'unclosed",
  ])("that cannot be fully analysed needs approval: %s", async (text) => {
    expect(await decide(command(text))).toMatch(/^(?:asked|blocked)$/);
  });

  it.each([
    "ls -la",
    "cat list.txt | sort | uniq -c | head -5",
    "grep -n word notes.txt",
    "grep -rn word .",
    "echo hello > out.txt && wc -l out.txt",
    "ls ~",
    "cat ~/.hermes/cache/documents/doc_ab12_list.csv",
    "date",
    "mkdir -p reports",
  ])("that is simple runs: %s", async (text) => {
    rmSync(join(work, "link"));
    expect(await decide(command(text))).toBe("runs");
    symlinkSync(hermesHome, join(work, "link"));
  });

  it("applies the usual rules for an owner", async () => {
    expect(await decide(command("cat ~/.hermes/state.db"), { role: "owner" })).toBe("runs");
    expect(await decide(command("python3 x.py"), { role: "owner" })).toBe("runs");
  });

  it("runs with approvals off, unless it controls Hermes or reads keys", async () => {
    const policy = { mode: "off" as const };
    expect(await decide(command("make"), { policy })).toBe("runs");
    expect(await decide(command("hermes config set gateway.owners telegram:2"), { policy })).toBe("asked");
    expect(await decide(command("cat ~/.ssh/id_rsa"), { policy })).toBe("blocked");
  });

  it("runs in a container without approval", async () => {
    expect(await decide({ kind: "command", command: "make", cwd: work, backend: "docker" })).toBe("runs");
  });
});

describe("a guest's files and changes", () => {
  const read = (path: string): Intent => ({ kind: "read", path, cwd: work });
  it("are not in the home, not even through links", async () => {
    expect(await decide(read(join(hermesHome, "state.db")))).toBe("blocked");
    expect(await decide(read("~/.hermes/memories"))).toBe("blocked");
    expect(await decide(read("link/state.db"))).toBe("blocked");
    expect(await decide({ kind: "write", path: "link/notes.txt", cwd: work })).toBe("blocked");
    expect(await decide(read(join(hermesHome, "cache", "documents", "doc_ab12_list.csv")))).toBe("runs");
    expect(await decide(read(join(hermesHome, "cache", "documents")))).toBe("blocked");
    expect(await decide(read("list.txt"))).toBe("runs");
  });

  it("of skills and settings need the owner's approval; memory and jobs do not", async () => {
    const durable = (what: "memory" | "skill" | "cron" | "config"): Intent => ({ kind: "durable", what, summary: "x" });
    expect(await decide(durable("skill"))).toBe("asked");
    expect(await decide(durable("config"))).toBe("asked");
    expect(await decide(durable("memory"))).toBe("runs");
    expect(await decide(durable("cron"))).toBe("runs");
    expect(await decide(durable("skill"), { role: "owner" })).toBe("runs");
  });

  it("as programs need approval, and are refused when they name the home", async () => {
    const code = (text: string): Intent => ({ kind: "code", language: "python", code: text, cwd: work });
    expect(await decide(code("print(1)"))).toBe("asked");
    expect(await decide(code("import os; print(os.environ['HERMES_HOME'])"))).toBe("blocked");
  });
});
