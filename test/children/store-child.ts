// A process that uses a shared store, for tests with several of them: `append`, `time` or `read` until it is stopped.
import { writeSync } from "node:fs";
import { SqliteSessionStore } from "../../src/store/sqlite-session-store.ts";

const [mode, path = "", sessionId = "", count = "0"] = process.argv.slice(2);

function say(line: string): void {
  // Written synchronously: the parent gets every line written before a kill -9.
  writeSync(1, `${line}\n`);
}

/** Appends, and prints each row only after it was acknowledged. */
async function append(): Promise<void> {
  const store = await SqliteSessionStore.open({ path });
  await store.ensureSession({ id: sessionId, source: "cli" });
  for (let n = 0; n < Number(count); n++) {
    const content = `${sessionId} row ${n} ${"word ".repeat(n % 40)}`;
    const id = await store.appendMessage(sessionId, { role: "user", content });
    say(`${id} ${n}`);
  }
  await store.close();
}

/** Appends, and prints how long each took, in milliseconds. */
async function time(): Promise<void> {
  const store = await SqliteSessionStore.open({ path });
  await store.ensureSession({ id: sessionId, source: "cli" });
  const took: number[] = [];
  let failures = 0;
  for (let n = 0; n < Number(count); n++) {
    const start = performance.now();
    try {
      await store.appendMessage(sessionId, {
        role: "user",
        content: `${sessionId} load row ${n} with some more words`,
      });
    } catch (error) {
      failures++;
      process.stderr.write(`${error}\n`);
    }
    took.push(performance.now() - start);
  }
  await store.close();
  say(JSON.stringify({ took, failures }));
}

/** Reads all the time and fails on anything that half a transaction would show. */
async function read(): Promise<void> {
  const store = await SqliteSessionStore.open({ path });
  let rounds = 0;
  process.once("SIGTERM", () => {
    say(`rounds ${rounds}`);
    process.exit(0);
  });
  for (;;) {
    const sessions = await store.listSessions({ limit: 5, orderByLastActive: true });
    for (const session of sessions) {
      const found = (await store.exportSession(session.id)) ?? { message_count: -1, messages: [] };
      if (found.message_count !== found.messages.length) throw new Error(`half a write seen in ${session.id}`);
    }
    await store.searchMessages("row", { limit: 5 });
    rounds++;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

await (mode === "append" ? append() : mode === "time" ? time() : read());
