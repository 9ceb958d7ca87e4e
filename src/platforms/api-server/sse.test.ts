// Event streams: a client that stops reading is disconnected.
import { Hono } from "hono";
import { expect, it } from "vitest";
import { sse } from "./sse.ts";

it("disconnects a client that does not read, and keeps one that does", async () => {
  const app = new Hono();
  const ends: string[] = [];
  app.get("/:who", (context) =>
    sse(context, { stopping: new AbortController().signal, keepAliveMs: 5 }, async (stream) => {
      for (let index = 0; index < 60 && !stream.signal.aborted; index++) {
        await stream.send({ index });
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      ends.push(`${context.req.param("who")} ${stream.signal.aborted ? "left" : "done"}`);
    }),
  );
  await app.request("/stuck");
  const reading = await app.request("/reading");
  expect(await reading.text()).toContain('"index":59');
  await expect.poll(() => [...ends].sort()).toEqual(["reading done", "stuck left"]);
});
