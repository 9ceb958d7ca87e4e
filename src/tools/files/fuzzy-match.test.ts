import fc from "fast-check";
import { expect, it } from "vitest";
import { findPassage } from "./fuzzy-match.ts";
import { replaceIn } from "./replace.ts";

const SOURCE = 'function greet(name) {\n    const text = "Hello";\n    console.log(text, name);\n    return text;\n}\n';

it.each([
  ["exact", 'const text = "Hello";'],
  ["line_trimmed", 'const text = "Hello";\nconsole.log(text, name);'],
  ["whitespace_normalized", 'const  text =   "Hello";\nconsole.log(text,   name);'],
  ["escape_normalized", 'const text = \\"Hello\\";'],
  ["trimmed_boundary", '   const text = "Hello";   '],
  ["unicode_normalized", "const text = “Hello”;\nconsole.log(text, name);"],
  [
    "block_anchor",
    'function greet(name) {\n    const words = "Hello";\n    console.log(text, name);\n    return text;\n}',
  ],
])("%s finds the passage", (strategy, wanted) => {
  const found = findPassage(SOURCE, wanted);
  expect(
    found?.strategy === strategy || ["line_trimmed", "whitespace_normalized"].includes(found?.strategy ?? ""),
  ).toBe(true);
  expect(found?.matches).toHaveLength(1);
});

it("gives new lines the indentation of the passage", () => {
  const result = replaceIn(SOURCE, {
    oldText: 'const text = "Hello";\nconsole.log(text, name);',
    newText: 'const text = "Bye";\nconsole.log(text);',
    all: false,
  });
  expect(result).toMatchObject({
    ok: true,
    text: 'function greet(name) {\n    const text = "Bye";\n    console.log(text);\n    return text;\n}\n',
  });
});

it("does not invent a match", () => {
  expect(findPassage(SOURCE, "completely different words\nthat stand nowhere\nin this file")).toBeNull();
});

it("replaces a passage that occurs once exactly once", () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 40 }),
      fc.string({ minLength: 1, maxLength: 20 }),
      fc.string({ maxLength: 40 }),
      (before, wanted, after) => {
        const text = before + wanted + after;
        fc.pre(text.indexOf(wanted) === text.lastIndexOf(wanted));
        const result = replaceIn(text, { oldText: wanted, newText: `${wanted}!`, all: false });
        expect(result).toMatchObject({ ok: true, text: text.replace(wanted, () => `${wanted}!`) });
      },
    ),
  );
});
