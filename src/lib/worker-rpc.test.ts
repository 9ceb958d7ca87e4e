import { once } from "node:events";
import { MessageChannel } from "node:worker_threads";
import { afterEach, describe, expect, test } from "vitest";
import { errorMessage } from "./error-message.ts";
import { serveCalls, WorkerClient, type WorkerRequest } from "./worker-rpc.ts";

const channels: MessageChannel[] = [];

afterEach(() => {
  for (const channel of channels.splice(0)) channel.port1.close();
});

function connect(answer: (request: WorkerRequest) => Promise<unknown>) {
  const channel = new MessageChannel();
  channels.push(channel);
  const events: unknown[] = [];
  const send = serveCalls<string>(channel.port2, errorMessage, answer);
  const client = new WorkerClient<string>(channel.port1, {
    name: "The test's worker",
    unpackError: (text) => new Error(text),
    onEvent: (event) => events.push(event),
  });
  return { client, channel, events, send };
}

describe("calls to a worker", () => {
  test("each call gets its own reply, in any order of the answers", async () => {
    let release: (() => void) | undefined;
    const first = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { client } = connect(async ({ method, args }) => {
      if (method === "slow") await first;
      else release?.();
      return [method, ...args];
    });
    const replies = await Promise.all([client.call("slow", [1]), client.call("fast", [2])]);
    expect(replies).toEqual([
      ["slow", 1],
      ["fast", 2],
    ]);
  });

  test("a failure arrives as an error, and so does an argument or a result that cannot be sent", async () => {
    const { client } = connect(async ({ method }) => {
      if (method === "fail") throw new Error("disk full");
      return () => 1;
    });
    await expect(client.call("fail", [])).rejects.toThrow("disk full");
    await expect(client.call("function", [])).rejects.toThrow("could not be cloned");
    await expect(client.call("fail", [() => 1])).rejects.toThrow("could not be cloned");
  });

  test("progress reaches the call it belongs to, and events reach the client", async () => {
    const { client, events, send } = connect(async ({ progress }) => {
      progress(1, 2);
      progress(2, 2);
      return "done";
    });
    const seen: number[][] = [];
    send("opened");
    expect(await client.call("work", [], (done: number, total: number) => seen.push([done, total]))).toBe("done");
    expect(seen).toEqual([
      [1, 2],
      [2, 2],
    ]);
    expect(events).toEqual(["opened"]);
  });

  test("the end of the worker rejects pending and later calls", async () => {
    const { client, channel } = connect(() => new Promise(() => undefined));
    const pending = client.call("never", []);
    await once(channel.port2, "message");
    channel.port1.emit("exit", 3);
    await expect(pending).rejects.toThrow("The test's worker ended (exit code 3).");
    await expect(client.call("more", [])).rejects.toThrow("ended");
    expect(client.ended).toBe(true);
  });
});
