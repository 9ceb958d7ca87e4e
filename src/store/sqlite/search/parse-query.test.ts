import fc from "fast-check";
import { expect, test } from "vitest";
import { openDatabase } from "../connection/driver.ts";
import { matchExpression } from "./match-expression.ts";
import { hasCjk, parseQuery } from "./parse-query.ts";

function read(query: string): string {
  const parsed = parseQuery(query);
  return parsed ? matchExpression(parsed) : "";
}

test.each([
  ["docker deployment", '"docker" AND "deployment"'],
  ["one two NOT three", '("one" AND "two") NOT "three"'],
  ["a OR b c", '"a" OR ("b" AND "c")'],
  ["a AND b OR c", '("a" AND "b") OR "c"'],
  ["(a OR b) c", '("a" OR "b") AND "c"'],
  ["a AND NOT b", '"a" NOT "b"'],
  ["deploy*", '"deploy" *'],
  ["*deploy", '"*deploy"'],
  ["my-app.config.ts", '"my-app.config.ts"'],
  ['"my chat-send thing"', '"my chat-send thing"'],
  ["hello and", '"hello"'],
  ["NOT", ""],
  ["AND OR NOT", ""],
  ["a OR", '"a"'],
  ["((a", '"a"'],
  ["a))", '"a"'],
  ['""', ""],
  ["!!! ???", ""],
  ["通信-协议", '"通信-协议"'],
])("%s reads as %s", (query, expression) => {
  expect(read(query)).toBe(expression);
});

test("a pasted page, thousands of brackets and long punctuation are parsed quickly", () => {
  for (const query of [
    "word ".repeat(20_000),
    `数${"!".repeat(50_000)}数`,
    `a ${"(".repeat(9000)}`,
    `a${")".repeat(9000)}`,
  ]) {
    expect(read(query)).toContain('"');
  }
});

test("each CJK range is recognised, other scripts are not", () => {
  for (const text of ["中", "㐀", "𠀀", "、", "ひ", "カ", "한"]) expect(hasCjk(text)).toBe(true);
  for (const text of ["abc", "é", "привет", "مرحبا", "😀"]) expect(hasCjk(text)).toBe(false);
});

test("no text is a syntax error for FTS5", () => {
  const db = openDatabase(":memory:");
  db.exec("CREATE VIRTUAL TABLE t USING fts5(content)");
  const hostile = fc.string({ unit: fc.constantFrom(..."ab\"'*()+-^:{}[],.\u0000 ") });
  const pieces = fc.array(
    fc.oneof(hostile, fc.string({ unit: "binary" }), fc.constantFrom("AND", "OR", "NOT", "NEAR(", "备份", " ", '"')),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(pieces, (parts) => {
      const parsed = parseQuery(parts.join(""));
      if (parsed) db.prepare("SELECT rowid FROM t WHERE t MATCH ?").all(matchExpression(parsed));
    }),
    { numRuns: 500 },
  );
  db.close();
});
