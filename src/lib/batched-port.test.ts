import { MessageChannel } from "node:worker_threads";
import { expect, test } from "vitest";
import { BatchedPort } from "./batched-port.ts";

async function heard(count: number, speak: (port: BatchedPort<unknown>) => void | Promise<void>) {
  const { port1, port2 } = new MessageChannel();
  const lists: unknown[][] = [];
  const refused: unknown[] = [];
  const all = new Promise<void>((resolve) => {
    port2.on("message", (list: unknown[]) => {
      lists.push(list);
      if (lists.flat().length === count) resolve();
    });
  });
  await speak(new BatchedPort<unknown>(port1, (item) => refused.push(item)));
  await all;
  port1.close();
  return { lists, refused };
}

test("messages of one turn of the event loop arrive as one array, in order", async () => {
  const { lists } = await heard(4, async (port) => {
    port.send(1);
    port.send(2);
    await Promise.resolve();
    port.send(3);
    await new Promise((resolve) => setImmediate(resolve));
    port.send(4);
  });
  expect(lists).toEqual([[1, 2, 3], [4]]);
});

test("an item that cannot be cloned is reported; the others arrive", async () => {
  const stuck = { call: () => undefined };
  const { lists, refused } = await heard(2, (port) => {
    for (const item of ["before", stuck, "after"]) port.send(item);
  });
  expect(lists.flat()).toEqual(["before", "after"]);
  expect(refused).toEqual([stuck]);
});
