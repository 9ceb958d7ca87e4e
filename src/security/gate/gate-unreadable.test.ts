// Text that the gate cannot analyse reliably is not run: look-alike characters, too long, too deep, not parsable.
import { describe, expect, it } from "vitest";
import { DEFAULT_GATE_POLICY } from "../../../test/kit/gate-policy.ts";
import type { GateContext } from "../../core/gate.ts";
import { type ApprovalRequest, absentHuman, type Human } from "../../core/human.ts";
import { createPathGuard } from "../path-guard.ts";
import { createGate } from "./gate.ts";

const userHome = "/home/ada";
const hermesHome = "/home/ada/.hermes";
const cwd = "/home/ada/project";
const open = (policy = {}) =>
  createGate({
    userHome,
    hermesHome,
    pathGuard: createPathGuard({ userHome, hermesHome }),
    policy: () => ({ ...DEFAULT_GATE_POLICY, ...policy }),
  });
const context = (human: Human = absentHuman): GateContext => ({
  sessionId: "s",
  toolName: "terminal",
  human,
  tainted: false,
  signal: new AbortController().signal,
});
const check = (command: string, policy = {}, human: Human = absentHuman) =>
  open(policy).check({ kind: "command", command, cwd, backend: "local" }, context(human));

const HIDING: readonly [string, string][] = [
  ["a line continuation at the end of a comment", "echo ok # note \\\nrm -rf ~"],
  ["a full-width apostrophe", "echo \uff07; rm -rf ~; echo \uff07"],
  ["a full-width quotation mark", "echo \uff02; rm -rf ~; echo \uff02"],
  ["a full-width number sign", "echo ok \uff03; rm -rf ~"],
  ["a small number sign", "echo ok \ufe5f; rm -rf ~"],
  ["full-width here-document signs", "echo x\uff1c\uff1c'E'\nrm -rf ~\nE"],
  ["an escape sequence", "echo \u001b]; rm -rf ~; echo \u0007"],
  ["an 8-bit control sequence", "echo \u009b; rm -rf ~"],
  ["an invisible character in a delimiter", "cat <<E\u200b\nE\nrm -rf ~\nE\u200b"],
  ["a carriage return as the end of a comment", "echo ok # x\rrm -rf ~"],
  ["a carriage return in a word", "echo ok\r\nls"],
  ["NUL", "echo ok\u0000; rm -rf ~"],
  ["a no-break space", "echo\u00a0ok"],
  ["an ideographic space", "echo\u3000ok"],
  ["a byte order mark", "\ufeffls"],
  ["a direction override in quotes", "echo '\u202egnp.exe'"],
  ["tag characters", "echo 'a\u{e0061}\u{e0062}'"],
  ["a look-alike inside a substitution in quotes", 'echo "$(echo \uff03; ls)"'],
  ["a look-alike in a script for another shell", "bash -c 'echo ok \uff03; ls'"],
  ["a program name in full-width letters", "\uff52\uff4d notes.txt"],
];

const ORDINARY: readonly string[] = [
  'git commit -m "fix: Größe der Tür – “smart” quotes, it’s fine … 🎉 👩‍💻 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}"',
  "git commit -m '修复：支持全角＃；＆（测试）　完成'",
  "cat 报告（终版）.txt",
  "ls Übersicht/été.txt файл.txt ملف.txt",
  "grep -n 'naïve　search' src/текст.ts",
  "echo it’s fine – really",
  'printf "%s\\n" "ｆｕｌｌ ｗｉｄｔｈ"',
  "cat > notes.md <<'EOF'\n# 全角＃と；｜ “quotes” — \u00a0 x\nEOF",
  "open 'Screenshot 2026-01-01 at 9.41.00\u202fAM.png'",
  "echo ok # Kommentar mit \u00a0 und ＃",
  "ls -la \\\n  src",
];

const DEEP: readonly [string, string][] = [
  ["one wrapper many times", `${"env ".repeat(30)}rm -rf data`],
  ["many kinds of wrappers", "nohup setsid nice ionice timeout 9 env stdbuf -o0 time -p rm -rf data"],
  ["wrappers behind find", `find . -maxdepth 0 -exec ${"env nice ".repeat(10)}rm -rf data \\;`],
  ["many lines", `${":\n".repeat(8_000)}$'\\x72\\x6d' -r data`],
  ["many lines that only do harmless things", ":\n".repeat(20_000)],
  ["a very long word before it", `: ${"x".repeat(300_000)}; rm -rf data`],
  ["nested shells", `${"bash -c \"eval '".repeat(1)}${"eval ".repeat(40)}ls'"`],
  ["deep parentheses", `${"(".repeat(400)}ls${")".repeat(400)}`],
  [
    "a target behind many choices of a brace",
    `rm {${Array.from({ length: 90 }, (_, n) => `f${n}`).join(",")},/home/ada/Documents/x}`,
  ],
  ["text that the grammar does not know", "echo 'open"],
];

describe("characters", () => {
  it.each(HIDING)("refuses %s, in every mode", async (_name, command) => {
    expect((await check(command)).allowed).toBe(false);
    expect((await check(command, { yolo: true })).allowed).toBe(false);
    expect((await check(command, { mode: "off" })).allowed).toBe(false);
  });

  it.each(ORDINARY)("allows ordinary text of all languages: %s", async (command) => {
    expect(await check(command)).toMatchObject({ allowed: true, how: "harmless" });
  });

  it("names the character and the fix, and accepts the corrected command", async () => {
    const gate = open();
    const run = (command: string) => gate.check({ kind: "command", command, cwd, backend: "local" }, context());
    const verdict = await run("ls\u00a0-la");
    expect(verdict).toMatchObject({
      allowed: false,
      message: expect.stringMatching(/U\+00A0 \(no-break space\).*try again/),
    });
    expect(await run("ls -la")).toMatchObject({ allowed: true });
  });
});

describe("text that cannot be checked", () => {
  it.each(DEEP)("is denied without a user to ask: %s", async (_name, command) => {
    expect((await check(command)).allowed).toBe(false);
  });

  it.each(["env ".repeat(30), `${":\n".repeat(8_000)}`, `: ${"x".repeat(300_000)}; `])(
    "does not bypass the hardline rules in yolo mode",
    async (before) => {
      expect((await check(`${before}rm -rf /home/ada`, { yolo: true })).allowed).toBe(false);
      expect((await check(`${before}$'\\x72\\x6d' -rf ~`, { yolo: true })).allowed).toBe(false);
    },
  );

  it("needs approval, and is refused in yolo mode with a hint", async () => {
    const asked: ApprovalRequest[] = [];
    const human: Human = {
      ...absentHuman,
      present: true,
      approve: async (request) => {
        asked.push(request);
        return { choice: "once" };
      },
    };
    expect(await check(":\n".repeat(8_000), {}, human)).toMatchObject({ allowed: true, how: "approved" });
    expect(asked[0]?.reason).toContain("too long or too deeply nested");
    expect(await check(":\n".repeat(8_000), { yolo: true }, human)).toMatchObject({
      allowed: false,
      message: expect.stringContaining("Split the command into smaller"),
    });
  });

  it("allows a few wrappers and long here-documents", async () => {
    expect((await check("sudo env A=1 nice timeout 9 stdbuf -oL ls")).allowed).toBe(true);
    expect((await check(`cat > big.txt <<'E'\n${"some text\n".repeat(5_000)}E`)).allowed).toBe(true);
  });
});
