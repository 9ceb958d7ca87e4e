// A replacement of files that is interrupted at any step can be undone.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { switchFiles, undoSwitch } from "./file-switch.ts";

const PLAN = { fresh: ".new", old: ".old", files: ["a.txt", "sub/b.txt", "c.txt"], removed: ["a.txt-wal"] };

function prepare(): string {
  const root = mkdtempSync(join(tmpdir(), "switch-"));
  mkdirSync(join(root, ".new", "sub"), { recursive: true });
  mkdirSync(join(root, "sub"));
  for (const file of PLAN.files) writeFileSync(join(root, ".new", file), "new");
  for (const file of ["a.txt", "a.txt-wal", "sub/b.txt", "other.txt"]) writeFileSync(join(root, file), "old");
  return root;
}

const content = (root: string) =>
  [...PLAN.files, ...PLAN.removed, "other.txt"].map((file) =>
    existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "-",
  );

it("replaces everything", () => {
  const root = prepare();
  switchFiles(root, "journal", PLAN);
  expect(content(root)).toEqual(["new", "new", "new", "-", "old"]);
  expect(undoSwitch(root, "journal")).toBe(false);
  rmSync(root, { recursive: true });
});

it("is undone after an interruption at each step", () => {
  let steps = 0;
  switchFiles(prepare(), "journal", PLAN, () => void steps++);
  for (let last = 0; last < steps; last++) {
    const root = prepare();
    let step = 0;
    const stop = () => {
      if (step++ === last) throw new Error("killed");
    };
    expect(() => switchFiles(root, "journal", PLAN, stop)).toThrow("killed");
    undoSwitch(root, "journal");
    expect([last, content(root)]).toEqual([last, ["old", "old", "-", "old", "old"]]);
    expect(undoSwitch(root, "journal")).toBe(false);
    rmSync(root, { recursive: true });
  }
  expect(steps).toBe(8);
});

it("forgets a journal that was not complete", () => {
  const root = prepare();
  writeFileSync(join(root, "journal"), '{"fresh": ".n');
  expect(undoSwitch(root, "journal")).toBe(true);
  expect(content(root)).toEqual(["old", "old", "-", "old", "old"]);
});
