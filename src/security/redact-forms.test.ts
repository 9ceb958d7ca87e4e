// Known values in disguise, shapes that reference tests expect, and how much of ordinary code is masked by mistake.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createRedactor } from "./redact.ts";
import { collectSecretValues, isSecretName } from "./secret-names.ts";

const VALUE = "sk-proj-Ab3dEf6hIj9kLm2nOp5q";
const known = createRedactor({ values: [VALUE, "hunter2-Tr0ub4dor&3-horse"] });
const letters = (text: string) => text.replaceAll(/[^A-Za-z0-9]/g, "").toLowerCase();
const body = "ab3def6hij9klm2nop5q";
const shows = (text: string) => {
  const seen = letters(text);
  return seen.includes(body) || [...seen].reverse().join("").includes(body);
};

describe("a known value is masked when it is", () => {
  it.each([
    ["plain", VALUE],
    ["reversed", [...VALUE].reverse().join("")],
    ["spaced", [...VALUE].join(" ")],
    ["split over lines", VALUE.replaceAll(/.{7}/g, "$&\n")],
    ["split over indented lines", VALUE.replaceAll(/.{5}/g, "$&\n    ")],
    ["a list of characters", JSON.stringify([...VALUE])],
    ["a Python list", `[${[...VALUE].map((char) => `'${char}'`).join(", ")}]`],
    ["joined by +", VALUE.replaceAll(/.{6}/g, '$&" + "')],
    ["in upper case", VALUE.toUpperCase()],
    ["reversed and spaced", [...VALUE].reverse().join("-")],
    ["dotted", [...VALUE].join(".")],
    ["with zero-width spaces", [...VALUE].join("\u200b")],
    ["with colour codes", VALUE.replaceAll(/.{6}/g, "$&\u001b[0m")],
  ])("%s", (_name, text) => {
    expect(shows(text.replaceAll("\u001b[0m", ""))).toBe(true);
    expect(shows(known.redact(`before ${text} after`).replaceAll("\u001b[0m", ""))).toBe(false);
    expect(known.redact(`before ${text} after`)).toMatch(/^before [\s\S]*after$/);
  });

  it.each([
    ["base64", Buffer.from(VALUE).toString("base64")],
    ["base64 inside other text", Buffer.from(`x${VALUE}y`).toString("base64")],
    ["hex", Buffer.from(VALUE).toString("hex")],
  ])("%s", (_name, text) => expect(known.redact(`a ${text} b`)).toMatch(/\*\*\*/));

  it("cut into chunks at any place", () => {
    const text = `key ${VALUE} and ${[...VALUE].reverse().join("")} end`;
    for (let cut = 1; cut < text.length; cut++) {
      const stream = known.stream();
      const out = stream.push(text.slice(0, cut)) + stream.push(text.slice(cut)) + stream.end();
      expect(shows(out)).toBe(false);
    }
  });
});

describe("shapes", () => {
  const plain = createRedactor();
  it.each([
    "bot123456789:ABCDEfghij-KLMNopqrst_UVWXyz12345",
    "12345678901:ABCDEfghijKLMNopqrstUVWXyz1234567890",
    "https://api.telegram.org/bot12345678901:ABCDEfghijKLMNopqrstUVWXyz1234567890/getMe",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0=.abc123def456ghij",
    "https://x.test/?token=xyz#section",
    "MYSQL_PASS=ghi789",
    "openai_key=abc123def456ghi789",
    "xai-0123456789abcdefghij",
    "fw_0123456789abcdefghij",
    "gloas-0123456789abcdefghij",
    "WEIRD_CREDS=ab12cd34ef56ab12",
    "postgres://ada:hunter2@db.test/app",
    "gh\u200bp_0123456789abcdefghij0123456789abcdef",
    "ghp_0123456789\u001b[1mabcdefghij0123456789abcdef",
  ])("%j is masked", (text) => {
    const secret = /xyz|ghi789|hunter2|ab12cd34|(?:UVWX|abcdefghij|abc123def456)/;
    expect(secret.test(text)).toBe(true);
    expect(plain.redact(text)).not.toMatch(secret);
  });

  it("a mention in a log shows nothing of the id", () => {
    expect(createRedactor({ pii: true }).redact("<@222589316709220353>")).toBe("<@***>");
  });

  it.each(["PASS: test/a.test.ts 12/12", "PASS src/x.ts", "12:30:45 started", "see chapter 12345678:appendix"])(
    "%s stays",
    (text) => expect(plain.redact(text)).toBe(text),
  );
});

it("names like creds and passwords in addresses make a value known", () => {
  expect(["WEIRD_CREDS", "DB_CRED", "SMTP_PASS"].every(isSecretName)).toBe(true);
  expect(["PASS", "pass", "compass_heading", "credit_limit"].some(isSecretName)).toBe(false);
  const found = collectSecretValues({
    DATABASE_URL: "postgres://u:S3cretPw@db/x",
    HTTPS_PROXY: "http://ada:hunter22@proxy:1",
    SA_JSON: '{"private_key":"-----BEGIN PRIVATE KEY-----abc"}',
    PLAIN: "https://x.test",
  });
  expect(found).toEqual(["S3cretPw", "hunter22", "-----BEGIN PRIVATE KEY-----abc"]);
});

/** Source files of other projects, up to a number of bytes. */
function foreignSources(limit: number): string[] {
  const root = join(import.meta.dirname, "../../node_modules");
  const texts: string[] = [];
  let bytes = 0;
  const queue = readdirSync(root)
    .filter((name) => !name.startsWith("."))
    .sort()
    .map((name) => join(root, name));
  for (let path = queue.shift(); path !== undefined && bytes < limit; path = queue.shift()) {
    const info = statSync(path, { throwIfNoEntry: false });
    if (info?.isDirectory()) {
      const names = readdirSync(path).sort().slice(0, 12);
      queue.push(...names.map((name) => join(path, name)));
    } else if (info && info.size < 60_000 && /\.(?:js|mjs|ts|md|json|yml)$/.test(path)) {
      texts.push(readFileSync(path, "utf8"));
      bytes += info.size;
    }
  }
  return texts;
}

it("masks next to nothing in the sources of other projects", () => {
  const redactor = createRedactor({ values: [VALUE, "correct horse battery staple"] });
  const texts = foreignSources(3_000_000);
  const lines = texts.flatMap((text) => text.split("\n"));
  const changed = lines.filter((line) => redactor.redact(line, { code: true }) !== line);
  expect(lines.length).toBeGreaterThan(20_000);
  expect(changed.length / lines.length).toBeLessThan(0.0005);
}, 30_000);
