import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endScrub, SCRUB_START, type Scrubbed, scrub } from "./scrub.ts";

/** The visible text of a whole answer, and the reasoning that was inside it. */
function scrubText(text: string): Scrubbed {
  const [state, first] = scrub(SCRUB_START, text);
  const [, rest] = endScrub(state);
  return { text: first.text + rest.text, reasoning: first.reasoning + rest.reasoning };
}

function inPieces(pieces: readonly string[]) {
  let state = SCRUB_START;
  let text = "";
  let reasoning = "";
  for (const piece of pieces) {
    const [next, output] = scrub(state, piece);
    state = next;
    text += output.text;
    reasoning += output.reasoning;
  }
  const [, rest] = endScrub(state);
  return { text: text + rest.text, reasoning: reasoning + rest.reasoning };
}

describe("scrubbing visible text", () => {
  test.each([
    ["<think>hm</think>\n\nHello", "Hello", "hm"],
    ["<THINKING>a</THINKING>Hi", "Hi", "a"],
    ["Hi <think>mid</think> there", "Hi  there", "mid"],
    ["<REASONING_SCRATCHPAD>x</REASONING_SCRATCHPAD>y", "y", "x"],
    ["<think>never ends", "", "never ends"],
    ["Done.</think> Yes", "Done. Yes", ""],
    ["a\n<memory-context>secret</memory-context>\nb", "a\n\nb", ""],
    ["a <memory-context>secret", "a ", ""],
    ["x <tool_call>{}</tool_call> y", "x  y", ""],
    ['<function name="f">{"a":1}</function>after', "after", ""],
  ])("%j", (input, text, reasoning) => {
    expect(scrubText(input)).toEqual({ text, reasoning });
  });

  test.each([
    "Use the `<think>` tag for that.",
    "```xml\n<think>kept</think>\n```\n",
    "The <think> tag opens a span and I never close it.",
    "1 < 2 and <b>bold</b>",
    "the <tool_call> element is documented elsewhere",
    'call <function name="x"> inline',
  ])("keeps ordinary text: %j", (input) => {
    expect(scrubText(input).text).toBe(input);
  });

  test("gives the same result however the text is cut", () => {
    const word = fc.constantFrom(
      "<think>",
      "</think>",
      "<Thinking>",
      "</thinking>",
      "<memory-context>",
      "</memory-context>",
      "<tool_call>",
      "</tool_call>",
      "```\n",
      "`",
      "\n",
      " ",
      "<",
      ">",
      "</",
      "hello",
      '<function name="a">',
      "</function>",
      "<b>",
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 14 }), fc.array(fc.nat(40), { maxLength: 12 }), (words, cuts) => {
        const whole = words.join("");
        const at = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].sort((a, b) => a - b);
        const pieces: string[] = [];
        let from = 0;
        for (const cut of at) {
          pieces.push(whole.slice(from, cut));
          from = cut;
        }
        pieces.push(whole.slice(from));
        expect(inPieces(pieces)).toEqual(scrubText(whole));
      }),
      { numRuns: 2000 },
    );
  });
});
