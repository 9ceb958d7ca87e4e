import fc from "fast-check";
import { expect, test } from "vitest";
import { requiredLiterals } from "./required-literals.ts";

test.each<[RegExp, readonly string[] | null]>([
  [/\bcurl\b/i, ["curl"]],
  [/https?:\/\//, ["http"]],
  [/\b(?:ignore|disregard)\b[^\n]{0,30}\brules?\b/i, ["ignore", "disregard"]],
  [/(?:abc)?[xy]*/, null],
  [/foo|[0-9]+/, null],
  [/(?!secret)tokens?/, ["token"]],
  [/\.ssh\/id_/, [".ssh/id_"]],
  [/a{0,3}bc+/, ["bc"]],
])("%s needs one of %j", (rule, literals) => {
  expect(requiredLiterals(rule)).toEqual(literals);
});

test("a text that matches has one of the literals", () => {
  const piece = fc.constantFrom("a", "bc", "d?", "e+", "(?:fg|h)", "[ij]", "(?:kl)?", "m{0,2}", "n{2,3}", "\\b", "\\.");
  const text = fc.string({ unit: fc.constantFrom(..."abcdefghijklmn.|"), maxLength: 40 });
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 5 }),
      fc.array(piece, { maxLength: 5 }),
      text,
      (one, two, input) => {
        const rule = new RegExp(two.length === 0 ? one.join("") : `${one.join("")}|${two.join("")}`);
        const needed = requiredLiterals(rule);
        if (needed !== null && rule.test(input)) expect(needed.some((literal) => input.includes(literal))).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});
