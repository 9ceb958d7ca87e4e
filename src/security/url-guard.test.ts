// Private addresses are unreachable through any spelling, redirect or DNS change; public ones work within limits.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { classifyAddress } from "./addresses.ts";
import { guardedFetch } from "./guarded-fetch.ts";
import { createRedactor } from "./redact.ts";
import { checkUrl, resolveUrl } from "./url-guard.ts";

describe("the text of a URL", () => {
  it.each([
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://0/",
    "http://localhost./",
    "http://LOCALHOST:8080/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[fc00::1]/",
    "http://[fe80::1]/",
    "http://10.0.0.1/",
    "http://192.168.1.1/",
    "http://172.16.0.1/",
    "http://100.64.0.1/",
    "http://example.com@127.0.0.1/",
    "http://127.0.0.1\\@example.com/",
    "http://foo.localhost/",
    "http://printer.local/",
    "http://224.0.0.1/",
  ])("refuses %s", (url) => {
    expect(checkUrl(url)).toMatchObject({ ok: false, rule: "private" });
    expect(checkUrl(url, { allowPrivate: true })).toMatchObject({ ok: true });
  });

  it.each([
    "http://169.254.169.254/latest/meta-data",
    "http://2852039166/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://metadata.google.internal/",
    "http://METADATA.GOOGLE.INTERNAL./",
    "http://100.100.100.200/",
    "http://[fd00:ec2::254]/",
    "http://169.254.170.2/",
  ])("never fetches %s", (url) => {
    expect(checkUrl(url, { allowPrivate: true })).toMatchObject({ ok: false, rule: "metadata" });
  });

  it("refuses other schemes and invalid URLs", () => {
    for (const url of [
      "file:///etc/passwd",
      "ftp://example.com",
      "gopher://x",
      "javascript:alert(1)",
      "data:text/plain,x",
    ])
      expect(checkUrl(url)).toMatchObject({ ok: false, rule: "scheme" });
    expect(checkUrl("not a url")).toMatchObject({ ok: false, rule: "malformed" });
  });

  it("applies the website blocklist", () => {
    const blocklist = [
      { domain: "https://www.bad.example/path", source: "config" },
      { domain: "*.ads.example", source: "shared" },
    ];
    expect(checkUrl("https://bad.example/x", { blocklist })).toMatchObject({ ok: false, rule: "blocklist" });
    expect(checkUrl("https://a.b.bad.example", { blocklist })).toMatchObject({ ok: false });
    expect(checkUrl("https://x.ads.example", { blocklist })).toMatchObject({ ok: false });
    expect(checkUrl("https://ads.example", { blocklist })).toMatchObject({ ok: true });
    expect(checkUrl("https://notbad.example", { blocklist })).toMatchObject({ ok: true });
  });

  it("refuses URLs that contain a secret in any encoding", () => {
    const redactor = createRedactor({ values: ["my-own secret/value"] });
    const key = `sk-${"Zq8Lw2Xv9Bn4Mc7Kd1Jf6Hs3"}`;
    for (const url of [
      `https://example.com/?q=${key}`,
      `https://example.com/${key}/x`,
      `https://example.com/?q=${encodeURIComponent("my-own secret/value")}`,
      `https://example.com/?q=${Buffer.from("my-own secret/value").toString("base64url")}`,
      `https://example.com/?q=%73%6b%2d${key.slice(3)}`,
    ])
      expect(checkUrl(url, { redactor })).toMatchObject({ ok: false, rule: "secret_in_url" });
    expect(checkUrl("https://example.com/search?q=token&key=value&code=1234567", { redactor })).toMatchObject({
      ok: true,
    });
  });

  it("classifies public addresses", () => {
    for (const address of ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "93.184.216.34"])
      expect(classifyAddress(address)).toBe("public");
  });
});

describe("names", () => {
  it("refuses a name when one of its addresses is private", async () => {
    const resolve = async () => ["93.184.216.34", "10.0.0.5"];
    expect(await resolveUrl("http://mixed.example/", { resolve })).toMatchObject({ ok: false, rule: "private" });
    expect(
      await resolveUrl("http://meta.example/", { resolve: async () => ["169.254.169.254"], allowPrivate: true }),
    ).toMatchObject({
      ok: false,
      rule: "metadata",
    });
    expect(
      await resolveUrl("http://gone.example/", { resolve: async () => Promise.reject(new Error("NXDOMAIN")) }),
    ).toMatchObject({
      ok: false,
      rule: "dns",
    });
  });
});

describe("fetching", () => {
  let server: Server;
  let port = 0;
  const seen: IncomingMessage["headers"][] = [];
  const answers: { readonly [path: string]: (request: IncomingMessage, response: ServerResponse) => void } = {
    "/": (_request, response) => response.end("hello"),
    "/gzip": (_request, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("packed")),
    "/bomb": (_request, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(20_000_000))),
    "/loop": (_request, response) => response.writeHead(302, { location: "/loop" }).end(),
    "/away": (_request, response) => response.writeHead(302, { location: "http://internal.example/" }).end(),
    "/meta": (_request, response) => response.writeHead(302, { location: "http://169.254.169.254/" }).end(),
    "/file": (_request, response) => response.writeHead(302, { location: "file:///etc/passwd" }).end(),
    "/once": (_request, response) => response.writeHead(302, { location: `http://other.example:${port}/` }).end(),
    "/hang": () => undefined,
  };
  beforeAll(async () => {
    server = createServer((request, response) => {
      seen.push(request.headers);
      (answers[request.url ?? "/"] ?? answers["/"])?.(request, response);
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const policy = () => ({
    allowHosts: [`site.example:${port}`, `other.example:${port}`],
    resolve: async (host: string) => (host === "internal.example" ? ["192.168.0.9"] : ["127.0.0.1"]),
  });
  const get = (path: string, extra = {}) =>
    guardedFetch(`http://site.example:${port}${path}`, { policy: policy(), ...extra });

  it("fetches, unpacks and follows a redirect", async () => {
    expect(await get("/")).toMatchObject({ ok: true, status: 200, body: Buffer.from("hello") });
    expect(await get("/gzip")).toMatchObject({ ok: true, body: Buffer.from("packed") });
    expect(await get("/once")).toMatchObject({ ok: true, url: `http://other.example:${port}/` });
  });

  it("does not forward credentials to another origin", async () => {
    seen.length = 0;
    await get("/once", { headers: { authorization: "Bearer x", accept: "text/html" } });
    expect(seen[0]).toHaveProperty("authorization");
    expect(seen[1]).not.toHaveProperty("authorization");
    expect(seen[1]).toHaveProperty("accept");
  });

  it("checks every redirect", async () => {
    expect(await get("/away")).toMatchObject({ ok: false, rule: "private", url: "http://internal.example/" });
    expect(await get("/meta")).toMatchObject({ ok: false, rule: "metadata" });
    expect(await get("/file")).toMatchObject({ ok: false, rule: "scheme" });
    expect(await get("/loop")).toMatchObject({ ok: false, rule: "redirects" });
  });

  it("connects to the checked address although DNS changes", async () => {
    let asked = 0;
    const resolve = async () => (asked++ === 0 ? ["127.0.0.1"] : ["169.254.169.254"]);
    const result = await guardedFetch(`http://rebind.example:${port}/`, {
      policy: { allowHosts: [`rebind.example:${port}`], resolve },
    });
    expect(result).toMatchObject({ ok: true, status: 200 });
    expect(asked).toBe(1);
    expect(
      await guardedFetch(`http://rebind.example:${port}/`, { policy: { allowPrivate: true, resolve } }),
    ).toMatchObject({ ok: false, rule: "metadata" });
  });

  it("limits size and time", async () => {
    const bomb = await get("/bomb", { maxBytes: 1000 });
    expect(bomb).toMatchObject({ ok: true, truncated: true });
    expect(bomb.ok && bomb.body.length).toBe(1000);
    expect(await get("/hang", { timeoutMs: 200 })).toMatchObject({ ok: false, rule: "timeout" });
    expect(await get("/hang", { signal: AbortSignal.timeout(100) })).toMatchObject({ ok: false, rule: "interrupted" });
    expect(
      await guardedFetch("http://site.example:1/", {
        policy: { allowPrivate: true, resolve: async () => ["127.0.0.1"] },
      }),
    ).toMatchObject({
      ok: false,
      rule: "network",
    });
  });
});
