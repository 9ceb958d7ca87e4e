// Pairing: codes, expiry, rates, lock-out.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import { openPairing } from "./pairing.ts";

let folder: string;
let now: number;
beforeEach(() => {
  folder = tempDir("pairing-");
  now = Date.parse("2026-05-01T12:00:00Z");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = () => openPairing(folder, () => now);
const ada = { id: "7", name: "Ada" };

describe("pairing", () => {
  it("grants access by code and stores files that only the owner can read", async () => {
    const pairing = open();
    const code = (await pairing.request("telegram", ada)) ?? "";
    expect(code).toMatch(/^[A-HJ-NP-Z2-9]{8}$/);
    expect(await pairing.isApproved("telegram", "7")).toBe(false);
    expect(await open().approve("telegram", code.toLowerCase())).toEqual({ userId: "7", userName: "Ada" });
    expect(await pairing.isApproved("telegram", "7")).toBe(true);
    expect(await pairing.isApproved("discord", "7")).toBe(false);
    const dir = join(folder, "platforms", "pairing");
    expect(readdirSync(dir).sort()).toEqual([
      "_owner.json",
      "_rate_limits.json",
      "telegram-approved.json",
      "telegram-pending.json",
    ]);
    expect(statSync(join(dir, "telegram-approved.json")).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(join(dir, "telegram-approved.json"), "utf8"))["7"]).toMatchObject({
      user_name: "Ada",
    });
    expect(await pairing.revoke("telegram", "7")).toBe(true);
    expect(await pairing.isApproved("telegram", "7")).toBe(false);
  });

  it("removes the times of requests once their rate limit has expired", async () => {
    const pairing = open();
    for (let n = 0; n < 5; n++) {
      await pairing.request("telegram", { id: `s${n}`, name: "" });
      await pairing.clearPending();
      now += 11 * 60_000;
    }
    const limits = join(folder, "platforms", "pairing", "_rate_limits.json");
    expect(Object.keys(JSON.parse(readFileSync(limits, "utf8")))).toEqual(["telegram:s4"]);
  });

  it("creates one code per ten minutes and at most three pending codes, valid for an hour", async () => {
    const pairing = open();
    const code = (await pairing.request("telegram", ada)) ?? "";
    expect(await pairing.request("telegram", ada)).toBeNull();
    for (const id of ["8", "9"]) expect(await pairing.request("telegram", { id, name: "" })).not.toBeNull();
    expect(await pairing.request("telegram", { id: "10", name: "" })).toBeNull();
    expect(await pairing.request("discord", { id: "10", name: "" })).not.toBeNull();
    now += 3_601_000;
    await expect(pairing.approve("telegram", code)).rejects.toThrow("expired");
    expect((await pairing.list()).pending).toEqual([]);
    expect(await pairing.request("telegram", ada)).not.toBeNull();
    expect(await pairing.clearPending()).toBe(1);
  });

  it("locks requests and approvals after five wrong codes", async () => {
    const pairing = open();
    const code = (await pairing.request("telegram", ada)) ?? "";
    for (let tried = 0; tried < 5; tried++)
      await expect(pairing.approve("telegram", "WRONGWRO")).rejects.toThrow("unknown");
    await expect(pairing.approve("telegram", code)).rejects.toThrow("locked");
    expect((await pairing.list()).locked).toEqual([{ platform: "telegram", minutesLeft: 60 }]);
    expect(await pairing.request("telegram", { id: "8", name: "" })).toBeNull();
    now += 3_601_000;
    expect(await pairing.request("telegram", { id: "8", name: "" })).not.toBeNull();
  });
});

describe("the first paired user", () => {
  const pair = async (platform: string, id: string) => {
    const code = (await open().request(platform, { id, name: `user ${id}` })) ?? "";
    now += 1_000;
    await open().approve(platform, code);
  };
  const approvedFile = (platform: string, entries: object) => {
    const dir = join(folder, "platforms", "pairing");
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, `${platform}-approved.json`), JSON.stringify(entries));
  };

  it("does not change when other users are paired, also on other platforms and in a new process", async () => {
    const pairing = open();
    expect(await pairing.first()).toBeNull();
    await pair("telegram", "501");
    await pair("discord", "777");
    await pair("telegram", "502");
    expect(await pairing.first()).toEqual({ platform: "telegram", userId: "501" });
    expect(await open().first()).toEqual({ platform: "telegram", userId: "501" });
  });

  it("is not replaced by a guest when it is revoked", async () => {
    await pair("telegram", "501");
    await pair("telegram", "502");
    await open().revoke("telegram", "501");
    expect(await open().first()).toBeNull();
    await pair("telegram", "503");
    expect(await open().first()).toBeNull();
  });

  it("is the next paired user when the lists are empty", async () => {
    await pair("telegram", "501");
    await open().revoke("telegram", "501");
    await pair("telegram", "502");
    expect(await open().first()).toEqual({ platform: "telegram", userId: "502" });
  });

  it("is derived from the approval times in older files", async () => {
    approvedFile("telegram", { 502: { user_name: "b", approved_at: 200 }, 501: { user_name: "a", approved_at: 100 } });
    expect(await open().first()).toEqual({ platform: "telegram", userId: "501" });
    await open().revoke("telegram", "502");
    expect(await open().first()).toEqual({ platform: "telegram", userId: "501" });
  });
});
