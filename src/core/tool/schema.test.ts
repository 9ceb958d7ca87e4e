// Our schema builders and TypeBox's give the same JSON, which TypeBox checks in the same way.
import { Type as TypeBox } from "typebox";
import { Compile } from "typebox/compile";
import { expect, it } from "vitest";
import { Type } from "./schema.ts";

/** The same schema, built with either. */
function schemaWith(T: typeof Type) {
  return T.Object(
    {
      path: T.String({ description: "Which file", minLength: 1 }),
      line: T.Optional(T.Integer({ minimum: 1 })),
      ratio: T.Optional(T.Number()),
      deep: T.Optional(T.Boolean({ default: false })),
      mode: T.Union([T.Literal("fast"), T.Literal(2), T.Null()], { description: "How" }),
      names: T.Array(T.Object({ name: T.Optional(T.String()) }), { maxItems: 2 }),
    },
    { additionalProperties: false },
  );
}

it("gives the JSON that TypeBox gives", () => {
  expect(JSON.stringify(schemaWith(Type))).toBe(JSON.stringify(schemaWith(TypeBox as unknown as typeof Type)));
});

it("is checked as TypeBox's own is", () => {
  const [ours, theirs] = [Compile(schemaWith(Type)), Compile(schemaWith(TypeBox as unknown as typeof Type))];
  const good = { path: "a", mode: null, names: [{ name: "x" }, {}] };
  for (const value of [good, { ...good, line: 0 }, { ...good, mode: "slow" }, { ...good, more: 1 }, {}, null]) {
    const errors = (checker: typeof ours) =>
      [...checker.Errors(value)].map(({ instancePath, message }) => [instancePath, message]);
    expect(ours.Check(value)).toBe(theirs.Check(value));
    expect(errors(ours)).toEqual(errors(theirs));
  }
  expect(ours.Check(good)).toBe(true);
});
