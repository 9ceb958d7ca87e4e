import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { httpFetch } from "./http-fetch.ts";

const servers: Server[] = [];

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

describe("httpFetch", () => {
  it("sends method, headers and body, and returns status, headers and body", async () => {
    const url = await serve((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const body = Buffer.concat(parts).toString();
        response.setHeader(
          "x-seen",
          `${request.method} ${request.headers["x-mine"]} ${request.headers["content-length"]}`,
        );
        response.end(JSON.stringify({ body }));
      });
    });
    const response = await httpFetch(url, { method: "POST", headers: { "x-mine": "yes" }, body: "Grüße" });
    expect([response.ok, response.status]).toEqual([true, 200]);
    expect(response.headers.get("x-seen")).toBe("POST yes 7");
    expect(JSON.parse(await response.text())).toEqual({ body: "Grüße" });
  });

  it("yields the pieces of a stream as they arrive", async () => {
    let end: () => void = () => undefined;
    const url = await serve((_, response) => {
      response.write("first");
      end = () => response.end("second");
    });
    const response = await httpFetch(url);
    const pieces = response.body?.[Symbol.asyncIterator]();
    expect(String((await pieces?.next())?.value)).toBe("first");
    end();
    expect(String((await pieces?.next())?.value)).toBe("second");
    expect((await pieces?.next())?.done).toBe(true);
  });

  it.each([
    ["gzip", gzipSync("packed")],
    ["br", brotliCompressSync("packed")],
  ])("decodes %s, which was not requested", async (coding, bytes) => {
    const url = await serve((_, response) => response.setHeader("content-encoding", coding).end(bytes));
    const response = await httpFetch(url);
    expect(response.headers.get("content-encoding")).toBeUndefined();
    expect(await response.text()).toBe("packed");
  });

  it("returns redirects and empty responses as they are", async () => {
    const url = await serve((request, response) => {
      response.statusCode = request.url === "/empty" ? 204 : 307;
      response.setHeader("location", "https://elsewhere.example/").end();
    });
    expect((await httpFetch(url)).status).toBe(307);
    const empty = await httpFetch(`${url}/empty`);
    expect([empty.status, await empty.text()]).toEqual([204, ""]);
  });

  it("rejects with the socket's code when no server listens", async () => {
    const url = await serve((_, response) => response.end());
    await new Promise((resolve) => servers.pop()?.close(resolve));
    await expect(httpFetch(url)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("ends with the signal, before and in the middle of the answer", async () => {
    const url = await serve((request, response) => {
      if (request.url === "/half") response.write("half");
    });
    await expect(httpFetch(url, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
    const silent = new AbortController();
    const waiting = httpFetch(url, { signal: silent.signal });
    setTimeout(() => silent.abort(), 20);
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    const midway = new AbortController();
    const response = await httpFetch(`${url}/half`, { signal: midway.signal });
    const text = response.text();
    midway.abort();
    await expect(text).rejects.toThrow();
  });

  it("fails when the connection breaks in the middle of the answer", async () => {
    const url = await serve((_, response) => {
      response.setHeader("content-length", "100").write("half");
      setTimeout(() => response.destroy(), 20);
    });
    const response = await httpFetch(url);
    await expect(response.text()).rejects.toThrow();
  });
});
