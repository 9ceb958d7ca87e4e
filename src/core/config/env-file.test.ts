import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeEnvFile, parseEnvFile, withEnvValue, withoutEnvValue } from "./env-file.ts";
import { knownEnvNames } from "./env-names.ts";

const parsed = (text: string) => Object.fromEntries(parseEnvFile(text));

describe("parseEnvFile", () => {
  it("reads pairs, quotes, comments, export and Windows line ends", () => {
    const text = [
      "\uFEFF# comment",
      "",
      "A=1",
      "export B = two words ",
      'C="quoted # not a comment"',
      "D='single \\' quote'",
      "E=value # comment",
      "F=a=b=c",
      'G="line\\nbreak"',
      "not a pair",
      "1BAD=x",
      "H=",
    ].join("\r\n");
    expect(parsed(text)).toEqual({
      A: "1",
      B: "two words",
      C: "quoted # not a comment",
      D: "single ' quote",
      E: "value",
      F: "a=b=c",
      G: "line\nbreak",
      H: "",
    });
  });

  it("splits joined lines at known names, the longest name first", () => {
    expect(parsed("OPENAI_API_KEY=sk-1GLM_API_KEY=g2 LM_API_KEY=l3")).toEqual({
      OPENAI_API_KEY: "sk-1",
      GLM_API_KEY: "g2",
      LM_API_KEY: "l3",
    });
    expect(parsed('OPENAI_API_KEY="a GLM_API_KEY=b"')).toEqual({ OPENAI_API_KEY: "a GLM_API_KEY=b" });
    expect(parsed("MY_URL=https://x/?OPENAI_API_KEY=1")).toEqual({ MY_URL: "https://x/?OPENAI_API_KEY=1" });
  });

  it("falls back to Latin-1", () => {
    expect(decodeEnvFile(Uint8Array.from([0x41, 0x3d, 0xe9]))).toBe("A=é");
    expect(decodeEnvFile(new TextEncoder().encode("A=é"))).toBe("A=é");
  });

  it("never throws, for any bytes", () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => parseEnvFile(decodeEnvFile(bytes)) instanceof Map));
  });
});

describe("editing", () => {
  it("replaces in place, keeps other lines, removes duplicates and line breaks", () => {
    expect(withEnvValue("# a\nX=1\nY=2\nX=3\n", "X", "n\new")).toBe("# a\nY=2\nX=new\n");
    expect(withEnvValue("", "X", "1")).toBe("X=1\n");
    expect(withEnvValue("A=1", "X", "1")).toBe("A=1\nX=1\n");
    expect(withoutEnvValue("A=1\n#X=1\nX=2\n", "X")).toBe("A=1\n#X=1\n");
    expect(withoutEnvValue("A=1", "X")).toBe("A=1");
  });

  it("reads every written value back and changes no other", () => {
    const name = fc.constantFrom(...knownEnvNames, "MY_OWN", "x1");
    const text = fc.string({ unit: "binary" }).map((each) => each.replace(/[\r\n]/g, ""));
    const value = fc.oneof(text, fc.constant("abcGLM_API_KEY=x"), fc.constant("sk-QUJD=="));
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), (pairs) => {
        let file = "# head\n";
        const expected: Record<string, string> = {};
        for (const [key, each] of pairs) {
          file = withEnvValue(file, key, each);
          expected[key] = each;
        }
        expect(parsed(file)).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });
});
