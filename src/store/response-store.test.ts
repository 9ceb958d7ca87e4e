import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import type { ResponseStore, StoredResponse } from "../core/store/response-store.ts";
import { openResponseStore } from "./response-store.ts";
import { openDatabase } from "./sqlite/connection/driver.ts";

let dir: string;
let path: string;
let store: ResponseStore;
let clock: number;

beforeEach(() => {
  dir = tempDir("hermes-responses-");
  path = join(dir, "response_store.db");
  clock = 1000;
  store = openResponseStore(path, () => clock++);
});

afterEach(() => {
  store.close();
  rmSync(dir, { recursive: true, force: true });
});

function response(id: string): StoredResponse {
  return {
    id,
    response: { id, output: [] },
    history: [{ role: "user", content: "Hi" }],
    instructions: null,
    sessionId: "s1",
    messageCount: 2,
  };
}

it("returns what was stored, also after it was opened again", () => {
  store.put(response("resp_1"), "kitchen");
  store.close();
  store = openResponseStore(path, () => clock++);
  expect(store.get("resp_1")).toEqual(response("resp_1"));
  expect(store.findNewest("kitchen")).toBe("resp_1");
  expect(store.delete("resp_1")).toBe(true);
  expect(store.delete("resp_1")).toBe(false);
  expect(store.findNewest("kitchen")).toBeNull();
});

it("deletes the least recently used answers", () => {
  for (let index = 0; index < 100; index++) store.put(response(`resp_${index}`), `talk-${index}`);
  expect(store.get("resp_0")).not.toBeNull();
  store.put(response("resp_new"));
  expect(store.get("resp_0")).not.toBeNull();
  expect(store.get("resp_1")).toBeNull();
  expect(store.findNewest("talk-1")).toBeNull();
});

it("finds threads, and reads rows that another program wrote", () => {
  store.putThread("f1", { sessionId: "s1", messageCount: 4 });
  expect(store.thread("f1")).toEqual({ sessionId: "s1", messageCount: 4 });
  expect(store.thread("f2")).toBeNull();
  const other = openDatabase(path);
  const insert = other.prepare("INSERT INTO responses(response_id, data, accessed_at) VALUES (?, ?, 1)");
  insert.run("resp_old", JSON.stringify({ response: { id: "resp_old" }, conversation_history: [] }));
  insert.run("resp_half", "{");
  other.close();
  expect(store.get("resp_old")).toMatchObject({ response: { id: "resp_old" }, history: [], sessionId: "" });
  expect(store.get("resp_half")).toBeNull();
});
