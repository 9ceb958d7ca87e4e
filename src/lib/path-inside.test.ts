import { expect, test } from "vitest";
import { isPathInside } from "./path-inside.ts";

test.each([
  ["/a/b", "/a", true],
  ["/a", "/a", true],
  ["/a/..b", "/a", true],
  ["/ab", "/a", false],
  ["/", "/a", false],
  ["/a/../c", "/a", false],
  ["/a", "/", true],
])("%s in %s: %s", (path, folder, expected) => {
  expect(isPathInside(path, folder)).toBe(expected);
});
