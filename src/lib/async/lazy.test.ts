import { expect, test } from "vitest";
import { lazy } from "./lazy.ts";

test("loads once, at the first call", async () => {
  let loads = 0;
  const value = lazy(async () => ({ number: ++loads }));
  expect(loads).toBe(0);
  const [first, second] = await Promise.all([value(), value()]);
  expect(first).toBe(second);
  expect(loads).toBe(1);
});

test("a failed load is tried again", async () => {
  let loads = 0;
  const value = lazy(async () => {
    loads += 1;
    if (loads === 1) throw new Error("busy");
    return loads;
  });
  await expect(value()).rejects.toThrow("busy");
  expect(await value()).toBe(2);
});
