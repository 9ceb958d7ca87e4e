// A home shared with Hermes Agent v0.14: settings, keys, jobs, chats, notes and guests that either program wrote.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SessionIndex } from "../src/gateway/inbound/session-index.ts";
import { runHermes } from "./kit/run-hermes.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { findReference, type Reference, unwrapResult } from "./reference/reference.ts";

const found = findReference();
const missing = "missing" in found ? found.missing : found.noCli;
const reference = found as Reference;
if (missing) process.stderr.write(`tests of a shared home are skipped: ${missing}\n`);

let home: string;
beforeEach(() => {
  home = tempDir("hermes-shared-");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function hermes(args: readonly string[], stdin?: string): Promise<string> {
  const { code, stdout, stderr } = await runHermes(args, { home, ...(stdin === undefined ? {} : { stdin }) });
  expect(`${code} ${stderr}`).toMatch(/^0 /);
  return stdout;
}

/** One answer of the reference. */
async function ask<T>(call: string, args: { [name: string]: unknown } = {}): Promise<T> {
  return unwrapResult<T>((await reference.run(home, [{ call, args }]))[0]);
}

const file = (name: string) => readFileSync(join(home, name), "utf8");
const json = <T>(name: string) => JSON.parse(file(name)) as T;

interface Jobs {
  readonly jobs: readonly { readonly id: string; readonly name: string; readonly [field: string]: unknown }[];
}

interface Auth {
  readonly credential_pool: { readonly [provider: string]: readonly object[] };
}

describe("a home shared with Hermes Agent v0.14", () => {
  it.skipIf(missing !== undefined)("settings and keys", async () => {
    await reference.cli(home, "config", "set", "compression.threshold", "0.6");
    await reference.cli(home, "config", "set", "OPENROUTER_API_KEY", "sk-or-test-123456");
    await reference.cli(
      home,
      "auth",
      "add",
      "openrouter",
      "--type",
      "api-key",
      "--label",
      "work",
      "--api-key",
      "sk-or-2",
    );
    expect((await hermes(["config", "get", "compression.threshold"])).trim()).toBe("0.6");
    const before = json<Auth>("auth.json");

    await hermes(["config", "set", "display.compact", "true"]);
    for (const provider of ["openrouter", "anthropic", "deepseek"]) {
      await hermes(["auth", "add", provider, "--label", "ours"], `key-of-${provider}\n`);
    }
    expect(json<Auth>("auth.json").credential_pool.openrouter).toMatchObject([
      ...(before.credential_pool.openrouter ?? []),
      { label: "ours" },
    ]);
    expect(file(".env")).toContain("OPENROUTER_API_KEY=sk-or-test-123456");
    const config = await ask<{ compression: object; display: object }>("hermes_cli.config:load_config");
    expect(config).toMatchObject({ compression: { threshold: 0.6 }, display: { compact: true } });
    for (const [provider, host] of [
      ["anthropic", "api.anthropic.com"],
      ["deepseek", "api.deepseek.com"],
    ] as const) {
      const [url, key] = await ask<[string, string]>("__main__:api_key_endpoint", { provider });
      expect([new URL(url).hostname, key]).toEqual([host, `key-of-${provider}`]);
    }
  });

  it.skipIf(missing !== undefined)("jobs", async () => {
    await reference.cli(
      home,
      "cron",
      "create",
      "every 2h",
      "water the plants",
      "--name",
      "plants",
      "--deliver",
      "local",
    );
    await reference.cli(home, "cron", "create", "0 9 * * 1-5", "news", "--name", "news", "--skill", "a");
    const [plants, news] = json<Jobs>("cron/jobs.json").jobs;
    await hermes(["cron", "pause", plants?.id ?? ""]);
    await hermes(["cron", "create", "every 3h", "stretch", "--name", "ours"]);
    const after = json<Jobs>("cron/jobs.json").jobs;
    expect(after[0]).toEqual({
      ...plants,
      enabled: false,
      state: "paused",
      paused_at: expect.any(String),
      paused_reason: after[0]?.paused_reason,
    });
    expect(after[1]).toEqual(news);
    expect(Object.keys(after[2] ?? {}).sort()).toEqual(Object.keys(news ?? {}).sort());
    const listed = await ask<Jobs["jobs"]>("cron.jobs:list_jobs", { include_disabled: true });
    expect(listed.map((job) => [job.name, job.state])).toEqual([
      ["plants", "paused"],
      ["news", "scheduled"],
      ["ours", "scheduled"],
    ]);
    await reference.cli(home, "cron", "edit", after[2]?.id ?? "", "--schedule", "every 4h");
    expect(await hermes(["cron", "list"])).toContain("every 240m");
  });

  it.skipIf(missing !== undefined)("chats, notes and guests", async () => {
    const id = await ask<string>("__main__:chat_session", { platform: "telegram", chat_id: "555", user_id: "42" });
    await ask("__main__:memory", { target: "memory", content: "likes 短い answers § maybe" });
    await ask("__main__:memory", { target: "user", content: "Name: Ann\nCity: Köln" });
    const code = await ask<string>("__main__:pairing", { platform: "telegram", user_id: "42", user_name: "Ann" });

    expect(await hermes(["sessions", "list", "--source", "telegram"])).toContain(id);
    const index = await SessionIndex.open(join(home, "sessions", "sessions.json"), Date.now, () => undefined);
    const key = "agent:main:telegram:dm:555";
    expect(index.get(key)?.session_id).toBe(id);
    const source = { platform: "discord", chatId: "7", chatKind: "group" as const, userId: "9", userName: "Bob" };
    const entry = await index.renew("agent:main:discord:group:7", source as Parameters<SessionIndex["renew"]>[1]);
    await index.close();
    expect(await ask("__main__:chat_sessions")).toEqual({ [key]: id, "agent:main:discord:group:7": entry.session_id });

    expect(await ask("gateway.status:acquire_gateway_runtime_lock")).toBe(true);
    // Reports that no gateway runs, in spite of the files of the other gateway.
    expect(await runHermes(["gateway", "status"], { home })).toMatchObject({ code: 3, stderr: "" });

    await hermes(["pairing", "approve", "telegram", code]);
    expect(await ask("__main__:pairing", { platform: "telegram" })).toMatchObject([
      { user_id: "42", user_name: "Ann" },
    ]);
    await hermes(["chat", "-Q", "-q", "remember that the office opens at nine"]);
    const notes = await ask<{ memory: string[]; user: string[] }>("__main__:memory");
    expect(notes.memory.concat(notes.user)).toEqual(
      expect.arrayContaining(["likes 短い answers § maybe", "Name: Ann\nCity: Köln", expect.stringContaining("nine")]),
    );
  });
});
