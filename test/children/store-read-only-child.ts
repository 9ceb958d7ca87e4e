// Uses a store whose file or folder is first read-only and then writable. Runs as a user other than root.
import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { dirname } from "node:path";
import { SqliteSessionStore } from "../../src/store/sqlite-session-store.ts";

const [path = "", what] = process.argv.slice(2);
const target = what === "folder" ? dirname(path) : path;
chmodSync(target, what === "folder" ? 0o500 : 0o400);

const notices: string[] = [];
const store = await SqliteSessionStore.open({ path, onNotice: (notice) => void notices.push(notice) });
assert.match(notices.join(), /read-only/);
assert.deepEqual(
  (await store.listSessions()).map((row) => row.preview),
  ["kept words"],
);
assert.equal((await store.searchMessages("words")).hits.length, 1);
assert.equal((await store.health()).state, "read_only");
await assert.rejects(store.appendMessage("s", { role: "user", content: "x" }), /read-only/);

chmodSync(target, what === "folder" ? 0o700 : 0o600);
await store.appendMessage("s", { role: "user", content: "writable again" });
assert.equal((await store.health()).state, "ok");
assert.equal(await store.messageCount("s"), 2);
await store.close();
