// Two people, one home: whatever either does, nothing of the other's is seen or changed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionStore } from "../../core/session.ts";
import { openSessionStore } from "../../store/open.ts";
import { scopedStore } from "./scoped-store.ts";

let folder: string;
let store: SessionStore;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "scoped-"));
  store = await openSessionStore({ path: join(folder, "state.db") });
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const users = ["telegram-user-1", "telegram-user-2"] as const;
let made = 0;

/** Every way in which a person's commands read. */
async function everythingSeen(view: SessionStore, ids: readonly string[], words: readonly string[]): Promise<string> {
  const seen: unknown[] = [await view.listSessions({ limit: 1000 }), await view.searchSessions({ limit: 1000 })];
  for (const word of words) {
    seen.push(await view.searchMessages(word, { limit: 100 }));
    seen.push(await view.resolveSessionByTitle(`title ${word}`), await view.getSessionByTitle(`title ${word}`));
  }
  for (const id of ids) {
    seen.push(await view.getSession(id), await view.getMessages(id), await view.getConversation(id));
    seen.push(await view.resolveSessionId(id), await view.getSessionTitle(id), await view.exportSession(id));
  }
  return JSON.stringify(seen);
}

describe("the store as one person sees it", () => {
  it("never shows or changes what belongs to the other", async () => {
    const step = fc.record({
      user: fc.constantFrom(0, 1),
      secret: fc.stringMatching(/^[a-z]{8}$/),
      titled: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (steps) => {
        const own: { id: string; word: string; user: number }[] = [];
        for (const { user, secret, titled } of steps) {
          const id = `s${made++}`;
          const word = `${secret}${id}`;
          await store.createSession({ id, source: "telegram", userId: users[user] ?? "" });
          await store.appendMessage(id, { role: "user", content: `the word is ${word}` });
          if (titled) await store.setSessionTitle(id, `title ${word}`);
          own.push({ id, word, user });
        }
        const ids = own.map((each) => each.id);
        const words = own.map((each) => each.word);
        for (const user of [0, 1]) {
          const view = scopedStore(store, users[user] ?? "");
          const seen = await everythingSeen(view, ids, words);
          for (const each of own) {
            if (each.user !== user) expect(seen).not.toContain(each.word);
            else expect(seen).toContain(each.word);
          }
          for (const each of own.filter((other) => other.user !== user)) {
            await view.setSessionTitle(each.id, "stolen");
            expect(await view.deleteSession(each.id)).toBe(false);
            expect(await store.messageCount(each.id)).toBe(1);
            expect(await store.getSessionTitle(each.id)).not.toBe("stolen");
          }
        }
      }),
      { numRuns: 25 },
    );
  });
});
