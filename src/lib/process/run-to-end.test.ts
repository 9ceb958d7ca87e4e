import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { runToEnd } from "./run-to-end.ts";

const base = { cwd: tmpdir(), env: { PATH: "/usr/local/bin:/usr/bin:/bin" }, timeoutMs: 60_000 };

/** A process that ended but was not yet collected by its parent does not count. */
function isRunning(pid: string): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", pid.trim()], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.startsWith("Z");
}

test("both streams, the input and the exit code", async () => {
  const run = await runToEnd(["sh", "-c", "cat; echo oops >&2; exit 3"], { ...base, stdin: "hello" });
  expect(run).toMatchObject({ code: 3, stdout: "hello", stderr: "oops\n", timedOut: false, aborted: false });
});

test("a program that does not exist ends with 127", async () => {
  expect((await runToEnd(["no-such-program-here"], base)).code).toBe(127);
});

test("arguments are not read by a shell", async () => {
  expect((await runToEnd(["printf", "%s", "$HOME; id"], base)).stdout).toBe("$HOME; id");
});

test("the time limit and the signal end the whole group", async () => {
  const script = "sleep 300 & echo $!; wait";
  const late = await runToEnd(["sh", "-c", script], { ...base, timeoutMs: 200 });
  expect(late).toMatchObject({ code: null, timedOut: true });
  await expect.poll(() => isRunning(late.stdout)).toBe(false);
  const signal = AbortSignal.timeout(200);
  expect(await runToEnd(["sh", "-c", script], { ...base, signal })).toMatchObject({ aborted: true, timedOut: false });
  expect(await runToEnd(["sh", "-c", script], { ...base, signal })).toMatchObject({ aborted: true });
});

test("a process that is left in the background does not hold up the end", async () => {
  const run = await runToEnd(["sh", "-c", "sleep 300 & echo $!"], base);
  expect(run.code).toBe(0);
  await expect.poll(() => isRunning(run.stdout)).toBe(false);
});

test("more output than allowed is dropped, or ends the program", async () => {
  const script = "printf 12345678; sleep 0.2; echo more; exit 0";
  const cut = await runToEnd(["sh", "-c", script], { ...base, maxOutput: 5 });
  expect(cut).toMatchObject({ code: 0, stdout: "12345", overflowed: true });
  const ended = await runToEnd(["yes"], { ...base, maxOutput: 1_000, onOverflow: "end" });
  expect(ended).toMatchObject({ code: null, overflowed: true });
  expect(ended.stdout).toHaveLength(1_000);
});
