import { expect, test } from "vitest";
import { settlesWithin, withTimeout } from "./with-timeout.ts";

const never = new Promise<never>(() => undefined);

test("work that is in time gives its result or its error", async () => {
  expect(await withTimeout(Promise.resolve(1), 60_000, () => 2)).toBe(1);
  await expect(withTimeout(Promise.reject(new Error("broken")), 60_000, () => 2)).rejects.toThrow("broken");
});

test("late work is replaced, or becomes an error", async () => {
  expect(await withTimeout(never, 1, () => 2)).toBe(2);
  const fail = () => {
    throw new Error("too late");
  };
  await expect(withTimeout(never, 1, fail)).rejects.toThrow("too late");
});

test("settlesWithin is true for fulfilled and for rejected work", async () => {
  expect(await settlesWithin(Promise.reject(new Error("broken")), 60_000)).toBe(true);
  expect(await settlesWithin(never, 1)).toBe(false);
});
