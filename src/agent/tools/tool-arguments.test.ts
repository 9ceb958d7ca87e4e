// Arguments as models write them: what is repaired, what is refused, what is converted.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../core/message.ts";
import { Type } from "../../core/tool/schema.ts";
import { argumentProblems } from "./check-arguments.ts";
import { coerceArguments } from "./coerce-arguments.ts";
import { canonicalArguments, parseArguments } from "./tool-arguments.ts";
import { nearestNames, repairToolName } from "./tool-name.ts";

describe("parseArguments", () => {
  it.each([
    ["", {}],
    ["None", {}],
    ['{"a":1}', { a: 1 }],
    ['{"a":1,}', { a: 1 }],
    ['{"a":[1,2', { a: [1, 2] }],
    ['{"a":1}}', { a: 1 }],
    ['{"a":"x\ny"}', { a: "x\ny" }],
    ['```json\n{"a":1,}\n```', { a: 1 }],
    ['"{\\"a\\":1}"', { a: 1 }],
    ['{"a":",}"}', { a: ",}" }],
  ])("reads %j", (text, value) => {
    expect(parseArguments(text)).toMatchObject({ ok: true, value });
  });

  it("refuses text that stops inside a string, because half a file is worse than none", () => {
    expect(parseArguments('{"path":"a","content":"first li')).toMatchObject({ ok: false, truncated: true });
    expect(parseArguments("[1,2]")).toMatchObject({ ok: false, truncated: false });
    expect(parseArguments("{a b c}")).toMatchObject({ ok: false });
  });

  it("never throws, and reads every JSON object as it is", () => {
    fc.assert(fc.property(fc.string(), (text) => parseArguments(text) !== undefined));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const text = JSON.stringify(value);
        expect(parseArguments(text)).toEqual({ ok: true, value: JSON.parse(text), repaired: false });
      }),
    );
  });

  it("never lets a cut text value through as complete", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 3 }), fc.nat(), (content, at) => {
        const text = JSON.stringify({ path: "a", content });
        const start = text.indexOf('"content":"') + 11;
        const cut = text.slice(0, start + (at % (text.length - start - 2)));
        const parsed = parseArguments(cut);
        expect(parsed.ok && parsed.value.content !== undefined).toBe(false);
      }),
    );
  });

  it("gives equal calls the same form", () => {
    expect(canonicalArguments({ b: " x ", a: [1, { d: 1, c: 2 }] })).toBe(
      canonicalArguments({ a: [1, { c: 2, d: 1 }], b: "x" }),
    );
  });
});

describe("coerceArguments", () => {
  const schema = Type.Object({
    n: Type.Optional(Type.Integer()),
    f: Type.Optional(Type.Number()),
    b: Type.Optional(Type.Boolean()),
    list: Type.Optional(Type.Array(Type.Integer())),
    o: Type.Optional(Type.Object({ n: Type.Optional(Type.Integer()) })),
    nothing: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    s: Type.Optional(Type.String()),
  }) as unknown as JsonObject;

  it.each([
    [{ n: "5" }, { n: 5 }],
    [{ n: "5.5" }, { n: "5.5" }],
    [{ f: "5.5" }, { f: 5.5 }],
    [{ b: "True" }, { b: true }],
    [{ list: "[1,2]" }, { list: [1, 2] }],
    [{ list: "3" }, { list: [3] }],
    [{ list: 3 }, { list: [3] }],
    [{ o: '{"n":"7"}' }, { o: { n: 7 } }],
    [{ n: null }, {}],
    [{ s: "12" }, { s: "12" }],
    [{ unknown: "x" }, { unknown: "x" }],
  ])("%j → %j", (given, wanted) => {
    expect(coerceArguments(given as JsonObject, schema)).toEqual(wanted);
  });
});

describe("argumentProblems", () => {
  it("names the path and the problem, for TypeBox and for plain schemas", async () => {
    const schema = Type.Object({ path: Type.String(), limit: Type.Optional(Type.Integer()) });
    expect(await argumentProblems(schema, { path: "a" })).toBeUndefined();
    expect(await argumentProblems(schema, { limit: "x" })).toMatch(/path.*limit: must be integer/);
    const plain = { type: "object", properties: { q: { type: "string" } }, required: ["q"] } as never;
    expect(await argumentProblems(plain, {})).toMatch(/q/);
  });
});

describe("tool names", () => {
  const known = ["read_file", "write_file", "search_files", "terminal", "web_search"];
  it.each([
    ["read_file", "read_file"],
    ["ReadFile", "read_file"],
    ["read-file", "read_file"],
    ["functions.read_file", "read_file"],
    ["readFileTool", "read_file"],
    ["read_file_tool_tool", "read_file"],
    ["serch_files", "search_files"],
    ["frobnicate", undefined],
    ["", undefined],
  ])("%s → %s", (name, meant) => {
    expect(repairToolName(name, known)).toBe(meant);
  });

  it("offers what is close", () => {
    expect(nearestNames("find_files", known)).toContain("search_files");
    expect(nearestNames("search", known)).toEqual(expect.arrayContaining(["search_files", "web_search"]));
  });
});
