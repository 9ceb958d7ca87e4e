// A map that keeps what was used last.
import { expect, it } from "vitest";
import { rememberNewest } from "./remember-newest.ts";

it("keeps the newest entries; setting a key again makes it the newest", () => {
  const map = new Map<string, number>();
  for (const [index, key] of ["a", "b", "a", "c", "d"].entries()) rememberNewest(map, key, index, 3);
  expect([...map]).toEqual([
    ["a", 2],
    ["c", 3],
    ["d", 4],
  ]);
});
