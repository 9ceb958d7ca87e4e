import { getEventListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { SignalRace } from "./signal-race.ts";

test("a promise that settles first wins, with one listener for all waits", async () => {
  const controller = new AbortController();
  const race = new SignalRace(controller.signal, "stopped");
  for (let turn = 0; turn < 20; turn++) expect(await race.run(Promise.resolve(turn))).toBe(turn);
  await expect(race.run(Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
  race.close();
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
});

test("the signal ends a wait that would never end, and every later one", async () => {
  const controller = new AbortController();
  const race = new SignalRace(controller.signal, "stopped");
  const waiting = race.run(new Promise(() => undefined));
  controller.abort();
  expect(await waiting).toBe("stopped");
  expect(await race.run(new Promise(() => undefined))).toBe("stopped");
});

test("a value within the grace period is returned; a later failure is ignored", async () => {
  const race = new SignalRace(AbortSignal.abort(), "stopped", 200);
  expect(await race.run(sleep(5, "in time"))).toBe("in time");
  const late = sleep(400).then(() => Promise.reject(new Error("too late")));
  expect(await race.run(late)).toBe("stopped");
  await late.catch(() => undefined);
});
