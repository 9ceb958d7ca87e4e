import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EndpointKeys } from "../endpoint.ts";
import { epochMs, parseDelay } from "./cool-down.ts";
import { Credentials } from "./credentials.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "hermes-auth-"));
  path = join(folder, "auth.json");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const URL_ = "https://api.example.com/v1";

function keys(extra: Partial<EndpointKeys> = {}): EndpointKeys {
  return { pool: "p", variables: [], optional: false, ...extra };
}

function store(strategies: Record<string, string> = {}, now?: () => number) {
  return new Credentials({ path, strategies, random: () => 0.99, ...(now ? { now } : {}) });
}

async function onDisk() {
  return JSON.parse(await readFile(path, "utf8"));
}

describe("the key file", () => {
  test("has the v0.14 format and is readable by its owner only", async () => {
    const { id } = await store().add("p", { value: "sk-secret-1", label: "work" });
    expect(await onDisk()).toMatchObject({
      version: 1,
      active_provider: null,
      providers: {},
      credential_pool: {
        p: [
          {
            id,
            label: "work",
            auth_type: "api_key",
            priority: 0,
            source: "manual",
            access_token: "sk-secret-1",
            last_status: null,
            request_count: 0,
          },
        ],
      },
      suppressed_sources: {},
    });
    expect(id).toMatch(/^[0-9a-f]{6}$/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test("a malformed file is copied and counts as empty", async () => {
    await writeFile(path, "{ not json");
    await store().add("p", { value: "sk-secret-1" });
    expect(await readFile(`${path}.corrupt`, "utf8")).toBe("{ not json");
    expect((await onDisk()).credential_pool.p).toHaveLength(1);
  });

  test("unknown fields are preserved", async () => {
    const foreign = {
      id: "abc123",
      label: "x",
      auth_type: "oauth",
      priority: 3,
      source: "device_code",
      access_token: "tok-12345",
      refresh_token: "r",
      tls: { a: 1 },
    };
    await writeFile(
      path,
      JSON.stringify({ version: 1, extra: true, providers: { nous: { x: 1 } }, credential_pool: { nous: [foreign] } }),
    );
    await store().add("nous", { value: "sk-secret-1" });
    const after = await onDisk();
    expect(after).toMatchObject({ extra: true, providers: { nous: { x: 1 } } });
    expect(after.credential_pool.nous[0]).toEqual(foreign);
  });

  test("twenty processes write without losing updates", async () => {
    const program = join(folder, "racer.mjs");
    await build({
      entryPoints: [fileURLToPath(new URL("../../../test/children/auth-racer.ts", import.meta.url))],
      bundle: true,
      platform: "node",
      format: "esm",
      outfile: program,
    });
    const { id } = await store().add("shared", { value: "shared-secret" });
    const run = promisify(execFile);
    const writers = Array.from({ length: 20 }, (_, index) =>
      run(process.execPath, [program, path, `racer-${index}`, id, "3"]),
    );
    await Promise.all(writers);
    const after = await onDisk();
    expect(new Set(after.credential_pool.race.map((entry: { label: string }) => entry.label)).size).toBe(20);
    expect(after.credential_pool.shared[0].request_count).toBe(60);
  });
});

describe("choosing a key", () => {
  async function three(strategy: string) {
    const credentials = store({ p: strategy });
    for (const name of ["one", "two", "three"]) await credentials.add("p", { value: `key-${name}`, label: name });
    const take = async () => {
      const lease = await credentials.lease(keys(), URL_);
      if (lease) await credentials.noteUse(lease, true);
      return lease?.value;
    };
    return { credentials, take };
  }

  test.each([
    ["fill_first", ["key-one", "key-one", "key-one", "key-one"]],
    ["round_robin", ["key-one", "key-two", "key-three", "key-one"]],
    ["least_used", ["key-one", "key-two", "key-three", "key-one"]],
    ["random", ["key-three", "key-three", "key-three", "key-three"]],
    ["nonsense", ["key-one", "key-one", "key-one", "key-one"]],
  ])("%s", async (strategy, expected) => {
    const { take } = await three(strategy);
    const taken = [await take(), await take(), await take(), await take()];
    expect(taken).toEqual(expected);
  });

  test("a key cools down 5 minutes after 401, an hour after 429, or until the time that the provider names", async () => {
    let now = 1_700_000_000_000;
    const credentials = store({}, () => now);
    await credentials.add("p", { value: "key-one" });
    await credentials.add("p", { value: "key-two" });
    const rest = async (status: number, resetAt?: number) => {
      const lease = await credentials.lease(keys(), URL_);
      expect(lease?.value).toBe("key-one");
      await credentials.markExhausted(lease!, { status, reason: "x", message: "m", ...(resetAt ? { resetAt } : {}) });
      expect((await credentials.lease(keys(), URL_))?.value).toBe("key-two");
    };
    await rest(401);
    now += 300_001;
    await rest(429);
    now += 3_599_000;
    expect((await credentials.lease(keys(), URL_))?.value).toBe("key-two");
    now += 2_000;
    await rest(429, now + 10_000);
    now += 10_001;
    expect((await credentials.lease(keys(), URL_))?.value).toBe("key-one");
  });

  test("when all keys cool down, the first to become available is tried", async () => {
    const credentials = store();
    await credentials.add("p", { value: "key-one" });
    await credentials.add("p", { value: "key-two" });
    for (const seconds of [500, 100]) {
      const lease = await credentials.lease(keys(), URL_);
      await credentials.markExhausted(lease!, {
        status: 429,
        reason: "rate_limit",
        message: "",
        resetAt: Date.now() + seconds * 1000,
      });
    }
    expect((await credentials.lease(keys(), URL_))?.value).toBe("key-two");
    expect(await credentials.reset("p")).toBe(2);
    expect((await credentials.lease(keys(), URL_))?.value).toBe("key-one");
  });

  test("a key with an address is not sent to another address", async () => {
    const credentials = store();
    await credentials.add("p", { value: "key-elsewhere", baseUrl: "https://other.example/v1" });
    expect(await credentials.lease(keys(), URL_)).toBeNull();
    expect((await credentials.lease(keys(), "https://other.example/v1"))?.value).toBe("key-elsewhere");
  });
});

describe("keys from variables", () => {
  const variables = [{ variable: "SOME_KEY", value: "value-of-some-key" }];

  test("are used after stored keys and never written to the file", async () => {
    const credentials = store();
    const lone = await credentials.lease(keys({ variables }), URL_);
    await credentials.noteUse(lone!, true);
    await expect(readFile(path)).rejects.toThrow();
    await credentials.markExhausted(lone!, { status: 429, reason: "rate_limit", message: "slow" });
    expect(await readFile(path, "utf8")).not.toContain("value-of-some-key");
    await credentials.add("p", { value: "manual-key" });
    expect((await credentials.lease(keys({ variables }), URL_))?.value).toBe("manual-key");
    const [variable] = (await credentials.list("p", variables)).filter((entry) => entry.source === "env:SOME_KEY");
    expect(variable?.restsUntil).toBeGreaterThan(Date.now());
  });

  test("a new value ends the cool-down of the old one", async () => {
    const credentials = store();
    const lease = await credentials.lease(keys({ variables }), URL_);
    await credentials.markExhausted(lease!, { status: 429, reason: "rate_limit", message: "" });
    const renewed = [{ variable: "SOME_KEY", value: "another-value" }];
    expect((await credentials.list("p", renewed))[0]?.restsUntil).toBe(0);
  });

  test("a removed variable is ignored until a key is added", async () => {
    const credentials = store();
    const [entry] = await credentials.list("p", variables);
    await credentials.remove("p", entry!.id, entry!.source);
    expect(await credentials.lease(keys({ variables }), URL_)).toBeNull();
    expect((await onDisk()).suppressed_sources).toEqual({ p: ["env:SOME_KEY"] });
    await credentials.add("p", { value: "manual-key" });
    expect(await credentials.list("p", variables)).toHaveLength(2);
  });

  test("keyless endpoints are called without a key, given keys win, profiles read the shared file", async () => {
    expect(await store().lease(keys({ optional: true }), URL_)).toMatchObject({ value: null, source: "none" });
    expect((await store().lease(keys({ fixed: "given", variables }), URL_))?.value).toBe("given");
    await store().add("p", { value: "shared-key" });
    const profile = new Credentials({ path: join(folder, "profile.json"), globalPath: path, strategies: {} });
    expect((await profile.lease(keys(), URL_))?.value).toBe("shared-key");
    expect((await profile.overview()).pooled).toEqual(new Set(["p"]));
  });
});

test.each([
  ["retry after 30 s", 30_000],
  ["Please try again in 1m30s.", 90_000],
  ['"quotaResetDelay": "12.5s"', 12_500],
  ["no time here", undefined],
])("reads the delay in %j", (text, expected) => expect(parseDelay(text)).toBe(expected));

test("reads epochs in seconds, in milliseconds and as text", () => {
  expect([
    epochMs(1_700_000_000),
    epochMs(1_700_000_000_000),
    epochMs("2023-11-14T22:13:20Z"),
    epochMs("x"),
    epochMs(null),
  ]).toEqual([1_700_000_000_000, 1_700_000_000_000, 1_700_000_000_000, undefined, undefined]);
});
