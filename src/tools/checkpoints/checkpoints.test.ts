import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tempFolder } from "../../../test/kit/tool-context.ts";
import { projectHash } from "./project-root.ts";
import { keepNewest, type PruneRules, prune } from "./prune.ts";
import { difference, restore } from "./restore.ts";
import { ShadowStore } from "./shadow-store.ts";
import { type SnapshotLimits, take } from "./snapshot.ts";

const PATH = "/usr/local/bin:/usr/bin:/bin";
const limits: SnapshotLimits = { maxFiles: 1_000, maxFileBytes: 100_000, maxTreeBytes: 0 };
const rules: PruneRules = { maxSnapshots: 20, retentionDays: 7, maxTotalBytes: 0, deleteOrphans: true };

let temp: ReturnType<typeof tempFolder>;
let root: string;
let store: ShadowStore;

const file = (name: string) => join(root, name);
const read = (name: string) => readFileSync(file(name), "utf8");
const write = (name: string, text: string | Uint8Array) => {
  mkdirSync(join(file(name), ".."), { recursive: true });
  writeFileSync(file(name), text);
};
const keep = (reason = "test", more: object = {}) => store.locked(() => take(store, { root, reason, limits, ...more }));
async function keepId(reason = "test", more: object = {}): Promise<string> {
  const taken = await keep(reason, more);
  if (!taken.ok) throw new Error(taken.reason);
  return taken.id;
}
const git = (...args: string[]) =>
  execFileSync("git", args, {
    cwd: root,
    encoding: "utf8",
    env: {
      PATH,
      HOME: temp.path,
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@b",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a@b",
    },
  });
/** Every file below a folder with its bytes. */
function tree(folder: string, skip = ""): { [path: string]: string } {
  const found: { [path: string]: string } = {};
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && (skip === "" || !path.startsWith(skip))) found[path] = readFileSync(path, "latin1");
  }
  return found;
}

beforeEach(() => {
  temp = tempFolder();
  root = join(temp.path, "project");
  mkdirSync(root);
  store = new ShadowStore({ dir: join(temp.path, "home", "checkpoints"), searchPath: PATH, timeoutMs: 30_000 });
});

afterEach(() => temp.remove());

describe("a checkpoint of a plain folder", () => {
  it("restores changed, deleted and replaced files exactly, and removes new ones", async () => {
    const bytes = randomBytes(5_000);
    write("a.txt", "one\r\ntwo\r\n");
    write("deep/b.bin", bytes);
    write("tool.sh", "#!/bin/sh\n");
    chmodSync(file("tool.sh"), 0o755);
    write("naïve name\nwith\\all.txt", "x");
    symlinkSync("a.txt", file("link"));
    const before = tree(root);
    const id = await keepId();
    write("a.txt", "ruined");
    rmSync(file("deep"), { recursive: true });
    write("deep", "now a file");
    rmSync(file("link"));
    rmSync(file("naïve name\nwith\\all.txt"));
    chmodSync(file("tool.sh"), 0o644);
    write("new/extra.txt", "made later");
    const done = await store.locked(() => restore(store, root, { id, limits }));
    expect(tree(root)).toEqual(before);
    expect(readFileSync(file("link"), "utf8")).toBe("one\r\ntwo\r\n");
    expect(statSync(file("tool.sh")).mode & 0o111).not.toBe(0);
    expect(done.removed).toEqual(["deep", "new/extra.txt"]);
    expect(done.changed).toContain("a.txt");
    // Undo the restore.
    await store.locked(() => restore(store, root, { id: done.before, limits }));
    expect(read("a.txt")).toBe("ruined");
    expect(read("new/extra.txt")).toBe("made later");
    expect(read("deep")).toBe("now a file");
  });

  it("restores one file and keeps the others", async () => {
    write("a.txt", "a1");
    write("b.txt", "b1");
    const id = await keepId();
    write("a.txt", "a2");
    write("b.txt", "b2");
    const done = await store.locked(() => restore(store, root, { id: id.slice(0, 8), path: "a.txt", limits }));
    expect([read("a.txt"), read("b.txt")]).toEqual(["a1", "b2"]);
    expect(done.changed).toEqual(["a.txt"]);
  });

  it("takes no new snapshot when nothing changed, and lists newest first", async () => {
    write("a.txt", "1");
    const first = await keepId("first");
    expect(await keep("again")).toEqual({ ok: true, id: first, fresh: false });
    write("a.txt", "2");
    const second = await keepId("second\nline");
    const all = await store.snapshots(projectHash(root));
    expect(all.map(({ id, reason }) => [id, reason])).toEqual([
      [second, "second line"],
      [first, "first"],
    ]);
    expect(await store.projects()).toMatchObject([{ hash: projectHash(root), workdir: root }]);
  });

  it("stores the current state also after a comparison, which has updated the index already", async () => {
    write("a.txt", "one\n");
    const id = await keepId();
    write("a.txt", "two\n");
    await store.locked(() => difference(store, root, { id, limits }));
    const restored = await store.locked(() => restore(store, root, { id, limits }));
    expect(restored.changed).toEqual(["a.txt"]);
    expect(restored.before).not.toBe(id);
    expect(read("a.txt")).toBe("one\n");
    await store.locked(() => restore(store, root, { id: restored.before, limits }));
    expect(read("a.txt")).toBe("two\n");
  });

  it("shows the changes since a snapshot", async () => {
    write("a.txt", "old line\n");
    const id = await keepId();
    write("a.txt", "new line\n");
    write("b.txt", "added\n");
    const { diff, stat } = await store.locked(() => difference(store, root, { id, limits }));
    expect(diff).toContain("-old line\n+new line");
    expect(diff).toContain("+added");
    expect(stat).toContain("2 files changed");
    const one = await store.locked(() => difference(store, root, { id, path: "b.txt", limits }));
    expect(one.diff).not.toContain("old line");
  });

  it("refuses ids and paths of other projects", async () => {
    write("a.txt", "1");
    const id = await keepId();
    const other = join(temp.path, "other");
    mkdirSync(other);
    const back = (ask: { id: string; path?: string }, where = root) =>
      store.locked(() => restore(store, where, { ...ask, limits }));
    for (const bad of ["abc", "HEAD", "--all", "g".repeat(40), "a".repeat(65), "refs/hermes/x", "0000"])
      await expect(back({ id: bad })).rejects.toThrow(/not the id|has no checkpoint/);
    await expect(back({ id }, other)).rejects.toThrow("has no checkpoint");
    for (const path of ["../home/x", "/etc/passwd", ".", "", ".git/config", "a\0b"])
      await expect(back({ id, path })).rejects.toThrow("is not a file inside");
    await expect(back({ id, path: "missing.txt" })).rejects.toThrow("is not in checkpoint");
    expect(read("a.txt")).toBe("1");
  });
});

describe("files that a checkpoint leaves out", () => {
  it("stores no secrets, dependencies and large files, and does not change them on restore", async () => {
    write("a.txt", "1");
    write(".env", "KEY=canary");
    write(".gitignore", "!.env\n!server.pem\nignored.txt\n");
    write("server.pem", "canary");
    write("node_modules/x/index.js", "canary");
    write("large.dat", "canary".repeat(50_000));
    write("ignored.txt", "canary");
    const id = await keepId();
    const names = (await store.run(["ls-tree", "-r", "--name-only", id])).split("\n").filter(Boolean);
    expect(names.sort()).toEqual([".gitignore", "a.txt"]);
    write("a.txt", "2");
    write("large.dat", "larger".repeat(50_000));
    const before = { ...tree(root), [file("a.txt")]: "1" };
    await store.locked(() => restore(store, root, { id, limits }));
    expect(tree(root)).toEqual(before);
  });

  it("includes the ignored file that is about to change, but no secret", async () => {
    write(".gitignore", "local.txt\n");
    write("local.txt", "mine");
    write(".env", "KEY=canary");
    const id = await keepId("x", { include: file("local.txt") });
    const secret = await keepId("y", { include: file(".env") });
    write("local.txt", "lost");
    await store.locked(() => restore(store, root, { id, path: "local.txt", limits }));
    expect(read("local.txt")).toBe("mine");
    expect(await store.run(["ls-tree", "-r", "--name-only", secret])).not.toContain(".env");
  });

  it("drops a file that became too large without deleting it", async () => {
    write("a.txt", "small");
    const id = await keepId();
    write("a.txt", "x".repeat(200_000));
    write("b.txt", "b");
    await keepId();
    await expect(store.locked(() => restore(store, root, { id, limits }))).rejects.toThrow(
      /overwritten|untracked|failed/,
    );
    expect(read("a.txt")).toHaveLength(200_000);
    expect(read("b.txt")).toBe("b");
  });

  it("skips projects with too many files or bytes, and reports it", async () => {
    for (let n = 0; n < 12; n++) write(`f${n}`, "12345678");
    expect(await keep("x", { limits: { ...limits, maxFiles: 10 } })).toEqual({
      ok: false,
      reason: "it has more than 10 files",
    });
    expect(await keep("x", { limits: { ...limits, maxTreeBytes: 50 } })).toMatchObject({ ok: false });
    expect(await store.snapshots(projectHash(root))).toEqual([]);
  });
});

describe("a project that is a git repository", () => {
  beforeEach(() => {
    git("init", "-q", "-b", "main");
    write("a.txt", "one\n");
    write("crlf.txt", "a\r\nb\r\n");
    write(".gitattributes", "* text=auto eol=crlf ident\n*.txt filter=evil working-tree-encoding=UTF-16\n");
    write("id.c", "$Id$\n");
    git("-c", "core.attributesFile=/dev/null", "add", "id.c");
    git("commit", "-qm", "first");
  });

  it("is restored exactly without changes to .git, regardless of its attributes and hooks", async () => {
    write(".git/hooks/post-checkout", "#!/bin/sh\ntouch ../hook-ran\n");
    chmodSync(file(".git/hooks/post-checkout"), 0o755);
    git("config", "filter.evil.clean", "touch evil-ran; cat");
    const inside = tree(file(".git"));
    const before = tree(root);
    const id = await keepId();
    for (const name of ["a.txt", "crlf.txt", "id.c"]) write(name, "ruined");
    await store.locked(() => restore(store, root, { id, limits }));
    expect(tree(file(".git"))).toEqual(inside);
    expect(tree(root)).toEqual(before);
    expect(existsSync(file("evil-ran")) || existsSync(file("hook-ran"))).toBe(false);
    expect(git("status", "--short", "id.c")).toBe("");
  });

  it("accepts nested repositories, also without commits", async () => {
    mkdirSync(file("inner"));
    execFileSync("git", ["init", "-q"], { cwd: file("inner"), env: { PATH, HOME: temp.path } });
    write("inner/x.txt", "inner");
    const id = await keepId();
    write("a.txt", "ruined");
    await store.locked(() => restore(store, root, { id, limits }));
    expect(read("a.txt")).toBe("one\n");
    expect(read("inner/x.txt")).toBe("inner");
  });
});

describe("pruning", () => {
  it("keeps the newest snapshots with their ids, and frees the others", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) {
      write("a.bin", randomBytes(40_000));
      ids.unshift(await keepId(`n${n}`));
    }
    const hash = projectHash(root);
    expect(await store.locked(() => keepNewest(store, hash, 3))).toBe(3);
    expect((await store.snapshots(hash)).map(({ id }) => id)).toEqual(ids.slice(0, 3));
    const done = await store.locked(() => prune(store, rules));
    expect(done.bytesAfter).toBeLessThan(done.bytesBefore * 0.7);
    expect((await store.snapshots(hash)).map(({ id }) => id)).toEqual(ids.slice(0, 3));
    await store.locked(() => restore(store, root, { id: ids[2] ?? "", limits }));
    write("a.bin", "after");
    await keepId("after the restore");
    expect(await store.snapshots(hash)).toHaveLength(4);
  });

  it("removes old snapshots and missing projects", async () => {
    write("a.txt", "1");
    await keepId();
    const first = root;
    root = join(temp.path, "second");
    write("b.txt", "2");
    await keepId();
    rmSync(root, { recursive: true });
    expect(await store.locked(() => prune(store, { ...rules, deleteOrphans: false }))).toMatchObject({ projects: 0 });
    expect(await store.locked(() => prune(store, rules))).toMatchObject({ projects: 1, snapshots: 1 });
    expect((await store.projects()).map(({ workdir }) => workdir)).toEqual([first]);
    const tree = (await store.run(["rev-parse", `${store.ref(projectHash(first))}^{tree}`])).trim();
    const env = {
      PATH,
      GIT_DIR: store.path,
      GIT_COMMITTER_DATE: "2001-01-01T00:00:00Z",
      GIT_AUTHOR_DATE: "2001-01-01T00:00:00Z",
    };
    const who = ["-c", "user.name=a", "-c", "user.email=a@b"];
    const old = execFileSync("git", [...who, "commit-tree", tree, "-m", "old"], { env, encoding: "utf8" }).trim();
    await store.run(["update-ref", store.ref(projectHash(first)), old]);
    expect(await store.locked(() => prune(store, { ...rules, retentionDays: 0 }))).toMatchObject({ snapshots: 0 });
    expect(await store.locked(() => prune(store, rules))).toMatchObject({ projects: 1, snapshots: 1 });
    expect(await store.projects()).toEqual([]);
  });

  it("enforces the size limit, but keeps the newest snapshot of the last project", async () => {
    for (const name of ["p1", "p2"]) {
      root = join(temp.path, name);
      for (let n = 0; n < 4; n++) {
        write("a.bin", randomBytes(60_000));
        await keepId(`${name} ${n}`);
      }
    }
    const done = await store.locked(() => prune(store, { ...rules, maxTotalBytes: 150_000 }));
    expect(done.bytesAfter).toBeLessThanOrEqual(150_000);
    const left = await store.snapshots(projectHash(root));
    expect(left[0]?.reason).toBe("p2 3");
    await store.locked(() => prune(store, { ...rules, maxTotalBytes: 10 }));
    expect(await store.snapshots(projectHash(root))).toHaveLength(1);
    await store.locked(() => restore(store, root, { id: left[0]?.id ?? "", limits }));
  });

  it("moves stores in the old layout aside", async () => {
    mkdirSync(join(store.dir, "0123456789abcdef"), { recursive: true });
    writeFileSync(join(store.dir, "0123456789abcdef", "HEAD"), "ref: refs/heads/main\n");
    write("a.txt", "1");
    await keepId();
    expect(existsSync(join(store.dir, "0123456789abcdef"))).toBe(false);
    expect(await store.legacy()).toHaveLength(1);
    expect(statSync(store.path).mode & 0o077).toBe(0);
  });
});
