import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LockTimeout, withFileLock } from "./file-lock.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "hermes-lock-"));
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

function runScript(script: string, args: string[]): Promise<number | null> {
  return new Promise((resolve) => {
    spawn(process.execPath, [script, ...args], { stdio: "inherit" }).on("close", resolve);
  });
}

describe("withFileLock", () => {
  it("keeps counts right when several processes change one file", async () => {
    const script = join(dir, "worker.mjs");
    await build({
      stdin: {
        contents: `import { withFileLock } from ${JSON.stringify(fileURLToPath(new URL("./file-lock.ts", import.meta.url)))};
          import { readFile, writeFile } from "node:fs/promises";
          const path = process.argv[2];
          for (let i = 0; i < 25; i++) await withFileLock(path, async () => {
            const n = Number(await readFile(path, "utf8"));
            await writeFile(path, String(n + 1));
          }, { timeoutMs: 25000 });`,
        resolveDir: dir,
      },
      bundle: true,
      platform: "node",
      format: "esm",
      outfile: script,
    });
    const counter = join(dir, "counter");
    await writeFile(counter, "0");
    const codes = await Promise.all([1, 2, 3, 4].map(() => runScript(script, [counter])));
    expect(codes).toEqual([0, 0, 0, 0]);
    expect(await readFile(counter, "utf8")).toBe("100");
  });

  it("ignores the lock files of Hermes Agent v0.14", async () => {
    const path = join(dir, "MEMORY.md");
    await writeFile(`${path}.lock`, "");
    expect(await withFileLock(path, async () => "done", { timeoutMs: 200 })).toBe("done");
    expect(await readdir(dir)).toEqual(["MEMORY.md.lock"]);
  });

  it("waits within one process too and returns the result of the work", async () => {
    const order: string[] = [];
    const path = join(dir, "f");
    await Promise.all(
      ["a", "b", "c"].map((name) =>
        withFileLock(path, async () => {
          order.push(`${name}+`);
          await new Promise((resolve) => setTimeout(resolve, 10));
          order.push(`${name}-`);
        }),
      ),
    );
    for (let at = 0; at < order.length; at += 2) expect(order[at + 1]).toBe(order[at]?.replace("+", "-"));
    expect(await withFileLock(path, async () => 42)).toBe(42);
  });

  it("takes over the lock of a process that has ended", async () => {
    const path = join(dir, "f");
    const child = spawn(process.execPath, ["-e", "0"]);
    await new Promise((resolve) => child.on("close", resolve));
    await writeFile(`${path}.lease`, JSON.stringify({ pid: child.pid, host: hostname(), token: "x" }));
    expect(await withFileLock(path, async () => "ok", { timeoutMs: 2000 })).toBe("ok");
  });

  it("takes over a lock of another machine or unreadable lock only when it is old", async () => {
    const path = join(dir, "f");
    await writeFile(`${path}.lease`, "half writ");
    await expect(withFileLock(path, async () => "ok", { timeoutMs: 60 })).rejects.toThrow(LockTimeout);
    const old = new Date(Date.now() - 120_000);
    await utimes(`${path}.lease`, old, old);
    expect(await withFileLock(path, async () => "ok", { timeoutMs: 2000 })).toBe("ok");
  });

  it("is released when the work fails", async () => {
    const path = join(dir, "f");
    await expect(withFileLock(path, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await withFileLock(path, async () => 1, { timeoutMs: 100 })).toBe(1);
  });

  it("removes only the temporary files that killed processes left beside the lock", async () => {
    const path = join(dir, "swept");
    const gone = { pid: 2 ** 22 + 1, host: hostname(), token: "x" };
    const mine = { pid: process.pid, host: hostname(), token: "x" };
    const old = new Date(Date.now() - 600_000);
    const put = async (name: string, owner: object, at?: Date) => {
      await writeFile(join(dir, name), JSON.stringify(owner));
      if (at) await utimes(join(dir, name), at, at);
    };
    await put("swept.lease.0123456789abcdef", gone);
    await put("swept.lease.1123456789abcdef.stale", gone);
    await put("swept.lease.2123456789abcdef", { ...gone, host: "elsewhere" }, old);
    await put("swept.lease.3123456789abcdef", mine);
    await put("swept.lease.4123456789abcdef", { ...gone, host: "elsewhere" });
    await put("swept.lease.notes", gone, old);
    await put("other.lease.0123456789abcdef", gone, old);
    await withFileLock(path, async () => undefined);
    expect((await readdir(dir)).sort()).toEqual([
      "other.lease.0123456789abcdef",
      "swept.lease.3123456789abcdef",
      "swept.lease.4123456789abcdef",
      "swept.lease.notes",
    ]);
  });
});
