import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { openRuntimeDb } from "./runtime-db.ts";
import { SqliteSessionStore } from "./sqlite-session-store.ts";

test("after the first short CJK search the side index is completed in the background", async () => {
  const folder = tempDir("hermes-feed-");
  const runtimePath = join(folder, "runtime.db");
  const store = await SqliteSessionStore.open({ path: join(folder, "state.db"), runtimePath });
  await store.createSession({ id: "s", source: "cli" });
  await store.appendMessages(
    "s",
    Array.from({ length: 50 }, (_, i) => ({ role: "user", content: `第${i}条 备份` })),
  );
  expect((await store.searchMessages("备份", { limit: 100 })).hits).toHaveLength(50);
  await store.appendMessage("s", { role: "user", content: "后来的备份" });
  const runtime = openRuntimeDb(runtimePath);
  for (let i = 0; i < 100; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (runtime.prepare<{ last_id: number }>("SELECT last_id FROM cjk_state").get()?.last_id === 51) break;
  }
  expect(runtime.prepare("SELECT last_id FROM cjk_state").get()).toEqual({ last_id: 51 });
  runtime.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});
