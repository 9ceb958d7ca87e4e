// Responses of servers in every encoding and type, as text or as an explanation.
import { describe, expect, it } from "vitest";
import { decodeBody, pageText } from "./page-text.ts";

const url = "https://example.org/dir/file.txt";
const body = (bytes: Uint8Array | string, contentType = "") => ({
  bytes: Buffer.from(bytes as string),
  contentType,
  url,
});

describe("encodings", () => {
  it.each<[string, Uint8Array, string, string]>([
    ["the header", Buffer.from([0xc4, 0xe3, 0xba, 0xc3]), "text/html; charset=gb2312", "你好"],
    ["a quoted value in the header", Buffer.from([0x93, 0xfa]), 'text/plain; charset="Shift_JIS"', "日"],
    [
      "the page's own word",
      Buffer.concat([Buffer.from('<meta charset="euc-kr">'), Buffer.from([0xc7, 0xd1])]),
      "text/html",
      '<meta charset="euc-kr">한',
    ],
    [
      "the older form of it",
      Buffer.from('<meta http-equiv=content-type content="text/html; charset=windows-1251">\xcf', "latin1"),
      "",
      '<meta http-equiv=content-type content="text/html; charset=windows-1251">П',
    ],
    ["valid UTF-8 without a declaration", Buffer.from("naïve 漢"), "text/html", "naïve 漢"],
    ["neither a declaration nor UTF-8", Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x80]), "text/html", "café€"],
    ["a byte order mark against the header", Buffer.from([0xff, 0xfe, 0x41, 0x00]), "text/html; charset=utf-8", "A"],
    ["an unknown encoding", Buffer.from("ok"), "text/html; charset=klingon-1", "ok"],
    ["UTF-8 cut in the middle of a character", Buffer.from("漢字").subarray(0, 4), "text/plain", "漢"],
  ])("%s", (_, bytes, type, expected) => expect(decodeBody({ bytes, contentType: type, url })).toBe(expected));
});

describe("content types", () => {
  it("pages become Markdown with their title", async () => {
    const page = await pageText(body("<title>T</title><h1>Hi</h1><a href=x>x</a>", "text/html"));
    expect(page).toEqual({ ok: true, title: "T", content: "# Hi\n\n[x](https://example.org/dir/x)" });
  });

  it("text and Markdown stay as they are, under the file's name", async () => {
    expect(await pageText(body("# a\n  b", "text/markdown"))).toEqual({
      ok: true,
      title: "file.txt",
      content: "# a\n  b",
    });
    expect(await pageText(body("plain <html>", "text/plain"))).toMatchObject({ content: "plain <html>" });
  });

  it("JSON is formatted; invalid JSON is returned unchanged", async () => {
    expect(await pageText(body('{"a":[1]}', "application/json"))).toMatchObject({
      content: '{\n  "a": [\n    1\n  ]\n}',
    });
    expect(await pageText(body('{"a":', "application/problem+json"))).toMatchObject({ content: '{"a":' });
  });

  it("the bytes decide when there is no type", async () => {
    expect(await pageText(body("<!DOCTYPE html><p>x"))).toMatchObject({ ok: true, content: "x" });
    expect(await pageText(body("key: value"))).toMatchObject({ ok: true, content: "key: value" });
    expect(await pageText(body("a\u0000b", "application/octet-stream"))).toMatchObject({ ok: false });
  });

  it("PDFs, images and pages rendered by scripts get an explanation", async () => {
    expect(await pageText(body("%PDF-1.7", "application/octet-stream"))).toMatchObject({
      ok: false,
      error: expect.stringMatching(/PDF.*service/),
    });
    expect(await pageText(body("x", "image/png"))).toMatchObject({
      ok: false,
      error: expect.stringMatching(/image.*terminal/),
    });
    expect(await pageText(body("<body><div id=root></div><script src=a.js></script>", "text/html"))).toMatchObject({
      ok: false,
      error: expect.stringMatching(/scripts/),
    });
  });
});
