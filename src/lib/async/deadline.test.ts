import { once } from "node:events";
import { expect, test } from "vitest";
import { Deadline } from "./deadline.ts";

test("a deadline passes once its time is over", async () => {
  const deadline = new Deadline(5);
  await once(deadline.signal, "abort");
  expect(deadline.passed).toBe(true);
});

test("it does not pass while it is paused, and passes after the last pause", async () => {
  const deadline = new Deadline(5);
  await deadline.whilePaused(async () => {
    deadline.pause();
    await new Promise((resolve) => setTimeout(resolve, 30));
    deadline.resume();
    expect(deadline.passed).toBe(false);
  });
  if (!deadline.passed) await once(deadline.signal, "abort");
  expect(deadline.passed).toBe(true);
});

test("a stopped deadline and one beyond the longest timer never pass", async () => {
  const stopped = new Deadline(1);
  stopped.stop();
  const long = new Deadline(Number.POSITIVE_INFINITY);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([stopped.passed, long.passed]).toEqual([false, false]);
});
