import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tempFolder, toolContext } from "../../../test/kit/tool-context.ts";
import { absentHuman } from "../../core/human.ts";
import { projectHash, projectRoot, rootProblem } from "./project-root.ts";
import type { PruneRules } from "./prune.ts";
import { ShadowStore } from "./shadow-store.ts";
import { type SnapshotLimits, take } from "./snapshot.ts";
import { type CheckpointParts, TurnCheckpoints } from "./turn-checkpoints.ts";

const PATH = "/usr/local/bin:/usr/bin:/bin";
const limits: SnapshotLimits = { maxFiles: 1_000, maxFileBytes: 100_000, maxTreeBytes: 0 };
const rules: PruneRules = { maxSnapshots: 20, retentionDays: 7, maxTotalBytes: 0, deleteOrphans: true };

let temp: ReturnType<typeof tempFolder>;
let root: string;
let store: ShadowStore;

const file = (name: string) => join(root, name);
const write = (name: string, text: string) => {
  mkdirSync(join(file(name), ".."), { recursive: true });
  writeFileSync(file(name), text);
};

describe("checkpoints", () => {
  let notices: string[];
  let parts: CheckpointParts;
  let opened: TurnCheckpoints[];
  const open = (given: CheckpointParts): TurnCheckpoints => {
    const made = new TurnCheckpoints(given);
    opened.push(made);
    return made;
  };
  const count = async () => (await store.snapshots(projectHash(root))).length;

  beforeEach(() => {
    temp = tempFolder();
    root = join(temp.path, "project");
    store = new ShadowStore({ dir: join(temp.path, "home", "checkpoints"), searchPath: PATH, timeoutMs: 30_000 });
    notices = [];
    opened = [];
    parts = {
      store,
      limits,
      rules,
      autoPrune: true,
      minIntervalHours: 24,
      userHome: join(temp.path, "home"),
      hermesHome: join(temp.path, "home", ".hermes"),
      enabled: true,
      isDestructive: (command) => command.startsWith("rm"),
      redact: (text) => text.replaceAll("s3cr3t", "***"),
      notice: (text) => notices.push(text),
    };
    mkdirSync(join(temp.path, "home"), { recursive: true });
    mkdirSync(root);
    write("package.json", "{}");
    write("src/a.txt", "1");
  });

  afterEach(async () => {
    await Promise.all(opened.map((checkpoints) => checkpoints.close()));
    temp.remove();
  });

  it("are taken before contained commands when no user is present, without being enabled", async () => {
    const checkpoints = open({ ...parts, enabled: false });
    const context = toolContext(root);
    await checkpoints.beforeCommand({ command: "make", contained: false }, context);
    const present = { ...context.human, present: true };
    await checkpoints.beforeCommand({ command: "make", contained: true }, { ...context, human: present });
    expect(await count()).toBe(0);
    await checkpoints.beforeCommand({ command: "make", contained: true }, context);
    expect(await count()).toBe(1);
    write("src/a.txt", "2");
    checkpoints.beginTurn("session");
    const tainted = { ...context, human: present, tainted: true };
    await checkpoints.beforeCommand({ command: "make", contained: true }, tainted);
    expect(await count()).toBe(2);
  });

  it("are taken once per project and turn, before files change and before destructive commands", async () => {
    const checkpoints = open(parts);
    const context = toolContext(root);
    await checkpoints.beforeChange(file("src/a.txt"), context);
    write("src/a.txt", "2");
    await checkpoints.beforeChange(file("package.json"), context);
    expect(await count()).toBe(1);
    checkpoints.beginTurn("session");
    await checkpoints.beforeCommand({ command: "ls", contained: false }, context);
    expect(await count()).toBe(1);
    await checkpoints.beforeCommand({ command: "rm x --password s3cr3t", contained: false }, context);
    expect((await store.snapshots(projectHash(root)))[0]?.reason).toBe("before: rm x --password ***");
    expect(notices).toEqual([]);
  });

  it("are taken before every script", async () => {
    const checkpoints = open(parts);
    await checkpoints.beforeScript(toolContext(root));
    expect((await store.snapshots(projectHash(root)))[0]?.reason).toBe("before a script");
  });

  it("are taken before scripts without a user present even when disabled, without reporting failures", async () => {
    const checkpoints = open({ ...parts, enabled: false });
    await checkpoints.beforeScript(toolContext(root, { human: { ...absentHuman, present: true } }));
    expect(store.exists).toBe(false);
    await checkpoints.beforeScript(toolContext(join(root, "src"), { workspace: root }));
    expect(await count()).toBe(1);
    const without = new ShadowStore({ dir: join(temp.path, "x"), searchPath: temp.path, timeoutMs: 5_000 });
    await open({ ...parts, enabled: false, store: without }).beforeScript(toolContext(root));
    expect(notices).toEqual([]);
  });

  it("are taken only where they are enabled", async () => {
    const checkpoints = open({ ...parts, enabled: false });
    const context = toolContext(root);
    await checkpoints.beforeChange(file("src/a.txt"), context);
    expect(store.exists).toBe(false);
    checkpoints.enable("conversation");
    await checkpoints.beforeChange(file("src/a.txt"), context);
    expect(await count()).toBe(1);
  });

  it("do not stop the work without git, in an excluded folder or with a damaged store", async () => {
    const context = toolContext(root);
    const without = new ShadowStore({ dir: join(temp.path, "x"), searchPath: temp.path, timeoutMs: 5_000 });
    await open({ ...parts, store: without }).beforeChange(file("src/a.txt"), context);
    expect(notices.pop()).toContain("git is not installed");
    await open(parts).beforeChange(join(temp.path, "home", "notes.txt"), context);
    expect(notices.pop()).toContain("home folder");
    await store.locked(() => take(store, { root, reason: "test", limits }));
    writeFileSync(join(store.path, "config"), "[broken");
    write("src/a.txt", "changed");
    await open(parts).beforeChange(file("src/a.txt"), context);
    expect(notices.pop()).toContain("No checkpoint of");
  });

  it("work after a killed git left its lock", async () => {
    await store.locked(() => take(store, { root, reason: "test", limits }));
    const lock = `${store.indexFile(projectHash(root))}.lock`;
    writeFileSync(lock, "");
    utimesSync(lock, 1, 1);
    write("src/a.txt", "changed");
    await open(parts).beforeChange(file("src/a.txt"), toolContext(root));
    expect(await count()).toBe(2);
    expect(notices).toEqual([]);
  });

  it("are taken correctly by several programs at the same time", async () => {
    const others = Array.from({ length: 4 }, (_, n) => join(temp.path, `p${n}`));
    for (const other of others) {
      mkdirSync(other);
      writeFileSync(join(other, "f"), other);
    }
    await Promise.all(others.map((other) => open(parts).beforeChange(join(other, "f"), toolContext(other))));
    expect(notices).toEqual([]);
    expect((await store.projects()).map(({ workdir }) => workdir).sort()).toEqual(others);
  });

  it("cover the project of a path, but not folders that are too large", () => {
    expect(projectRoot(file("src/not/yet/there"), "/nowhere")).toBe(root);
    const places = { userHome: "/home/me", hermesHome: "/home/me/.hermes" };
    for (const bad of ["/", "/home", "/home/me", "/home/me/.hermes", "/tmp"])
      expect(rootProblem(bad, places)).toBeDefined();
    for (const good of ["/home/me/project", "/home/me/.hermes/skills/x", "/tmp/x"])
      expect(rootProblem(good, places)).toBeUndefined();
  });
});
