import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { which, whichAll } from "./which.ts";

test("finds executable files in the order of the search path", () => {
  const root = tempDir("hermes-which-");
  for (const name of ["a", "b", "c"]) {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, "tool"), "#!/bin/sh\n");
  }
  chmodSync(join(root, "b", "tool"), 0o755);
  chmodSync(join(root, "c", "tool"), 0o755);
  const path = ["", ...["a", "b", "c"].map((name) => join(root, name))].join(delimiter);
  expect(whichAll("tool", path)).toEqual([join(root, "b", "tool"), join(root, "c", "tool")]);
  expect(which("tool", path)).toBe(join(root, "b", "tool"));
  expect(which("other", path)).toBeUndefined();
  expect(which("tool", undefined)).toBeUndefined();
  rmSync(root, { recursive: true });
});
