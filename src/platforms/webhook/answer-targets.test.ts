// The targets of answers to deliveries: stored across restarts, limited in number.
import { expect, it } from "vitest";
import { AnswerTargets } from "./answer-targets.ts";

function memoryOf(rows: Map<string, string>) {
  return {
    get: async (key: string) => rows.get(key) ?? null,
    set: async (key: string, value: string) => void rows.set(key, value),
  };
}

it("are found after a restart, also those stored by earlier versions", async () => {
  const rows = new Map([["webhook:r:old", JSON.stringify({ deliver: "github_comment", extra: { repo: "a/b" } })]]);
  await new AnswerTargets(memoryOf(rows)).store("webhook:r:1", { repo: "c/d" });
  const later = new AnswerTargets(memoryOf(rows));
  expect(await later.find("webhook:r:1")).toEqual({ repo: "c/d" });
  expect(await later.find("webhook:r:old")).toEqual({ repo: "a/b" });
  expect(await later.find("webhook:r:2")).toBeUndefined();
});

it("are limited to the newest five hundred, in one row", async () => {
  const rows = new Map<string, string>();
  const targets = new AnswerTargets(memoryOf(rows));
  await Promise.all(Array.from({ length: 600 }, (_, n) => targets.store(`webhook:r:${n}`, { n: String(n) })));
  expect(rows.size).toBe(1);
  const later = new AnswerTargets(memoryOf(rows));
  expect(await later.find("webhook:r:99")).toBeUndefined();
  expect(await later.find("webhook:r:100")).toEqual({ n: "100" });
  expect(await later.find("webhook:r:599")).toEqual({ n: "599" });
});
