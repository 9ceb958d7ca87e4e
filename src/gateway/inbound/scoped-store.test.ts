// Two users of one home: neither sees or changes anything of the other.
import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import type { SessionStore } from "../../core/store/session.ts";
import { openSessionStore } from "../../store/open.ts";
import { ScopedStore } from "./scoped-store.ts";

let folder: string;
let store: SessionStore;
beforeAll(async () => {
  folder = tempDir("scoped-");
  store = await openSessionStore({ path: join(folder, "state.db") });
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const users = ["telegram-user-1", "telegram-user-2"] as const;
let made = 0;

/** Everything that the commands of a user can read. */
async function everythingSeen(view: SessionStore, ids: readonly string[], words: readonly string[]): Promise<string> {
  const seen: unknown[] = [await view.listSessions({ limit: 1000 }), await view.searchSessions({ limit: 1000 })];
  for (const word of words) {
    seen.push(await view.searchMessages(word, { limit: 100 }));
    seen.push(await view.resolveSessionByTitle(`title ${word}`), await view.getSessionByTitle(`title ${word}`));
  }
  for (const id of ids) {
    seen.push(await view.getSession(id), await view.getMessages(id), await view.getConversation(id));
    seen.push(await view.resolveSessionId(id), await view.getSessionTitle(id), await view.exportSession(id));
    seen.push(await view.ancestors(id), await view.messageCount(id));
  }
  return JSON.stringify(seen);
}

/** What each method of the contract does for a user. A new method needs a decision here, or this file does not compile. */
const DECISIONS: { readonly [name in keyof SessionStore]: "own sessions" | "denied" } = {
  getSession: "own sessions",
  getSessionByTitle: "own sessions",
  resolveSessionId: "own sessions",
  resolveSessionByTitle: "own sessions",
  getCompressionTip: "own sessions",
  resolveResumeSessionId: "own sessions",
  ancestors: "own sessions",
  listSessions: "own sessions",
  searchSessions: "own sessions",
  searchMessages: "own sessions",
  getSessionTitle: "own sessions",
  setSessionTitle: "own sessions",
  getMessages: "own sessions",
  getConversation: "own sessions",
  toolResults: "own sessions",
  messageCount: "own sessions",
  exportSession: "own sessions",
  deleteSession: "own sessions",
  createSession: "denied",
  endSession: "denied",
  reopenSession: "denied",
  updateSystemPrompt: "denied",
  updateTokenCounts: "denied",
  splitSession: "denied",
  appendMessage: "denied",
  appendMessages: "denied",
  undoMessages: "denied",
  getNextTitleInLineage: "denied",
  sessionCount: "denied",
  exportAll: "denied",
  importSession: "denied",
  pruneSessions: "denied",
  getMeta: "denied",
  setMeta: "denied",
  vacuum: "denied",
  stats: "denied",
  health: "denied",
  repair: "denied",
  setIndexLayout: "denied",
  close: "denied",
};

function methodNames(value: object): string[] {
  const names = new Set<string>();
  for (let at: object | null = value; at && at !== Object.prototype; at = Object.getPrototypeOf(at) as object | null)
    for (const name of Object.getOwnPropertyNames(at)) if (name !== "constructor") names.add(name);
  return [...names].filter((name) => typeof (value as { [name: string]: unknown })[name] === "function").sort();
}

describe("the decisions", () => {
  it("cover the contract", () => {
    expect(methodNames(new ScopedStore(store, "somebody"))).toEqual(Object.keys(DECISIONS).sort());
  });

  it("deny methods that are not about the user's own sessions", async () => {
    const view = new ScopedStore(store, "somebody") as unknown as { [name: string]: (id: unknown) => unknown };
    for (const [name, decision] of Object.entries(DECISIONS)) {
      const call = async () => view[name]?.(name === "toolResults" ? ["unknown"] : "unknown");
      if (decision === "denied") await expect(call(), name).rejects.toThrow("not available in a chat");
      else await call();
    }
  });
});

describe("the store as one user sees it", () => {
  it("never shows or changes what belongs to another user", async () => {
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
          const view = new ScopedStore(store, users[user] ?? "");
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
