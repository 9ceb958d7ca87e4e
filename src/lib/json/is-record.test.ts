import { expect, test } from "vitest";
import { isRecord } from "./is-record.ts";
import { parseJson } from "./parse-json.ts";

test("only objects are records", () => {
  expect([{}, { a: 1 }, [], null, "text", 1, undefined].map(isRecord)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});

test("malformed JSON is undefined", () => {
  expect([parseJson('{"a":1}'), parseJson("{a"), parseJson("null")]).toEqual([{ a: 1 }, undefined, null]);
});
