import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callTool, openGate, plainRedactor, tempFolder, toolContext } from "../../../test/kit/tool-context.ts";
import { localFiles } from "./file-access.ts";
import { FileMemory } from "./file-memory.ts";
import type { FileToolParts } from "./file-tools.ts";
import { patchTool } from "./patch.ts";
import { readFileTool } from "./read-file.ts";
import { searchFilesTool } from "./search-files.ts";
import { writeFileTool } from "./write-file.ts";

let folder: ReturnType<typeof tempFolder>;
let parts: FileToolParts;
const at = (name: string) => join(folder.path, name);
const read = (args: object) => callTool(readFileTool(parts), args, toolContext(folder.path));
const write = (args: object) => callTool(writeFileTool(parts), args, toolContext(folder.path));
const patch = (args: object) => callTool(patchTool(parts), args, toolContext(folder.path));
const search = (args: object) => callTool(searchFilesTool(parts), args, toolContext(folder.path));

beforeEach(() => {
  folder = tempFolder();
  parts = {
    files: localFiles,
    gate: openGate,
    redactor: plainRedactor,
    memory: new FileMemory(),
    limits: { maxReadChars: 100_000, maxLines: 2_000, maxLineChars: 2_000 },
  };
});
afterEach(() => folder.remove());

describe("read_file", () => {
  it("numbers lines and pages", async () => {
    writeFileSync(at("a.txt"), Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join("\n"));
    const first = await read({ path: "a.txt", limit: 10 });
    expect(first.json).toMatchObject({
      total_lines: 30,
      truncated: true,
      hint: "Lines 1–10 of 30; continue with offset 11",
    });
    expect(String(first.json.content).split("\n")[0]).toBe("     1|line 1");
    const last = await read({ path: "a.txt", offset: 21 });
    expect(String(last.json.content).split("\n")).toHaveLength(10);
    expect(last.json.truncated).toBe(false);
  });

  it("answers a repeated read without content, then refuses it, until the file changes", async () => {
    writeFileSync(at("a.txt"), "one\n");
    await read({ path: "a.txt" });
    expect((await read({ path: "a.txt" })).json).toMatchObject({ status: "unchanged", content_returned: false });
    expect((await read({ path: "a.txt" })).json).toMatchObject({ already_read: true });
    writeFileSync(at("a.txt"), "one\ntwo\n");
    expect((await read({ path: "a.txt" })).json).toMatchObject({ total_lines: 2 });
  });

  it("suggests similar files, and explains folders, images and binaries", async () => {
    writeFileSync(at("config.yaml"), "a: 1\n");
    writeFileSync(at("photo.png"), "x");
    writeFileSync(at("data"), Buffer.from([1, 0, 2, 0]));
    mkdirSync(at("src"));
    expect((await read({ path: "confg.yaml" })).json).toMatchObject({ similar_files: [at("config.yaml")] });
    expect((await read({ path: "src" })).json.error).toContain("is a folder");
    expect((await read({ path: "photo.png" })).json).toMatchObject({ is_image: true });
    expect((await read({ path: "data" })).json).toMatchObject({ is_binary: true });
    expect((await read({ path: "/dev/null" })).json.error).toContain("device");
  });

  it("reads UTF-16, Latin-1 and files with a byte-order mark", async () => {
    writeFileSync(at("u16.txt"), Buffer.from("\uFEFFGrüße\r\n", "utf16le"));
    writeFileSync(at("latin.txt"), Buffer.from("café\n", "latin1"));
    writeFileSync(at("bom.txt"), "\uFEFFhello\n");
    expect((await read({ path: "u16.txt" })).json.content).toBe("     1|Grüße");
    expect((await read({ path: "latin.txt" })).json).toMatchObject({ content: "     1|café", encoding: "latin1" });
    expect((await read({ path: "bom.txt" })).json.content).toBe("     1|hello");
  });

  it("pages a file of 50 MB without loading it", async () => {
    writeFileSync(
      at("big.log"),
      Buffer.concat([Buffer.alloc(50_000_000, `${"x".repeat(99)}\n`), Buffer.from("the end\n")]),
    );
    const before = process.memoryUsage().rss;
    const page = await read({ path: "big.log", offset: 500_001, limit: 5 });
    expect(page.json).toMatchObject({ content: "500001|the end", total_lines: 500_001 });
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
  });

  it("marks files outside the workspace as untrusted", async () => {
    const other = tempFolder();
    writeFileSync(join(other.path, "foreign.txt"), "hi\n");
    writeFileSync(at("near.txt"), "hi\n");
    expect((await read({ path: join(other.path, "foreign.txt") })).result.trust).toBe("untrusted");
    expect((await read({ path: "near.txt" })).result.trust).toBe("workspace");
    other.remove();
  });
});

describe("write_file", () => {
  it("creates folders, keeps mode, line ends and byte-order mark, and checks the syntax", async () => {
    expect((await write({ path: "new/deep/a.json", content: '{"a": 1}' })).json).toMatchObject({
      bytes_written: 8,
      dirs_created: true,
      lint: { status: "ok" },
    });
    writeFileSync(at("win.txt"), "\uFEFFone\r\ntwo\r\n", { mode: 0o755 });
    await read({ path: "win.txt" });
    await write({ path: "win.txt", content: "one\nthree\n" });
    expect(readFileSync(at("win.txt"), "utf8")).toBe("\uFEFFone\r\nthree\r\n");
    expect(statSync(at("win.txt")).mode & 0o777).toBe(0o755);
    expect((await write({ path: "b.json", content: "{" })).json).toMatchObject({ lint: { status: "error" } });
    expect((await write({ path: "c.py", content: "def f(:\n" })).json).toMatchObject({ lint: { status: "error" } });
  });

  it("warns when it overwrites a file that was not read, was read in part, or has changed", async () => {
    writeFileSync(at("a.txt"), "1\n2\n3\n");
    expect((await write({ path: "a.txt", content: "x\n" })).json._warning).toContain("was not read");
    expect((await write({ path: "a.txt", content: "y\n" })).json._warning).toBeUndefined();
    writeFileSync(at("a.txt"), "changed\n");
    expect((await write({ path: "a.txt", content: "z\n" })).json._warning).toContain("changed on disk");
    writeFileSync(at("b.txt"), "1\n2\n3\n");
    await read({ path: "b.txt", limit: 1 });
    expect((await write({ path: "b.txt", content: "x\n" })).json._warning).toContain("only a part");
  });

  it("refuses to write a tool's message over a file", async () => {
    const answer = await write({ path: "a.txt", content: '{"status":"unchanged","message":"…"}' });
    expect(answer.result.failed).toBe(true);
    expect(existsSync(at("a.txt"))).toBe(false);
  });

  it("writes through a symbolic link and leaves the link", async () => {
    writeFileSync(at("real.txt"), "old\n");
    symlinkSync(at("real.txt"), at("link.txt"));
    await read({ path: "link.txt" });
    await write({ path: "link.txt", content: "new\n" });
    expect(readFileSync(at("real.txt"), "utf8")).toBe("new\n");
  });
});

describe("patch", () => {
  it("replaces a passage, reports a missing or ambiguous one, and shows the diff", async () => {
    writeFileSync(at("a.js"), "const a = 1;\nconst b = 2;\nconst b2 = 2;\n");
    const done = await patch({ path: "a.js", old_string: "const a = 1;", new_string: "const a = 10;" });
    expect(done.json).toMatchObject({ success: true, files_modified: [at("a.js")] });
    expect(done.json.diff).toContain("+const a = 10;");
    expect((await patch({ path: "a.js", old_string: "= 2;", new_string: "= 3;" })).json.error).toContain("2 times");
    expect(
      (await patch({ path: "a.js", old_string: "= 2;", new_string: "= 3;", replace_all: true })).json.success,
    ).toBe(true);
    expect((await patch({ path: "a.js", old_string: "const bb = 3;", new_string: "x" })).json).toMatchObject({
      error: "old_string was not found",
    });
  });

  it("keeps Windows line ends", async () => {
    writeFileSync(at("w.txt"), "one\r\ntwo\r\nthree\r\n");
    await patch({ path: "w.txt", old_string: "two\nthree", new_string: "2\n3" });
    expect(readFileSync(at("w.txt"), "utf8")).toBe("one\r\n2\r\n3\r\n");
  });

  it("applies a patch to all of its files or to none", async () => {
    writeFileSync(at("a.txt"), "alpha\nbeta\ngamma\n");
    writeFileSync(at("old.txt"), "bye\n");
    writeFileSync(at("m.txt"), "move me\n");
    const text = `*** Begin Patch
*** Update File: a.txt
@@ alpha @@
 alpha
-beta
+BETA
 gamma
*** Add File: sub/new.txt
+hello
+world
*** Delete File: old.txt
*** Move File: m.txt -> moved/m.txt
*** End Patch`;
    const bad = await patch({ mode: "patch", patch: text.replace("-beta", "-delta") });
    expect(bad.json.error).toContain("nothing was changed");
    expect(existsSync(at("sub/new.txt"))).toBe(false);
    const good = await patch({ mode: "patch", patch: text });
    expect(good.json).toMatchObject({
      success: true,
      files_created: [at("sub/new.txt"), at("moved/m.txt")],
      files_deleted: [at("old.txt"), at("m.txt")],
    });
    expect(readFileSync(at("a.txt"), "utf8")).toBe("alpha\nBETA\ngamma\n");
    expect(readFileSync(at("sub/new.txt"), "utf8")).toBe("hello\nworld\n");
    expect(readFileSync(at("moved/m.txt"), "utf8")).toBe("move me\n");
  });
});

describe("search_files", () => {
  beforeEach(() => {
    mkdirSync(at("src"));
    writeFileSync(at("src/a.ts"), "export const apple = 1;\nconst pear = 2;\n// apple pie\n");
    writeFileSync(at("src/b.md"), "An apple a day\n");
  });

  it("finds text with line numbers, by glob, as counts and as file names", async () => {
    const content = await search({ pattern: "apple" });
    expect(content.json.total_count).toBe(3);
    expect(content.json.matches).toContainEqual({ path: "src/a.ts", line: 1, content: "export const apple = 1;" });
    expect((await search({ pattern: "apple", file_glob: "*.md" })).json.total_count).toBe(1);
    expect((await search({ pattern: "apple", output_mode: "count" })).json.counts).toEqual({
      "src/a.ts": 2,
      "src/b.md": 1,
    });
    expect(((await search({ pattern: "apple", output_mode: "files_only" })).json.files as string[]).sort()).toEqual([
      "src/a.ts",
      "src/b.md",
    ]);
    expect((await search({ pattern: "b.md", target: "files" })).json.files).toEqual(["src/b.md"]);
    expect((await search({ pattern: "apple", path: "src/b.md" })).json.matches).toEqual([
      { path: "src/b.md", line: 1, content: "An apple a day" },
    ]);
  });

  it("pages, shows context, and explains a bad pattern or path", async () => {
    expect((await search({ pattern: "apple", limit: 1 })).json).toMatchObject({ truncated: true, next_offset: 1 });
    expect(((await search({ pattern: "pear", context: 1 })).json.matches as object[]).length).toBe(3);
    expect((await search({ pattern: "(" })).json).toMatchObject({
      hint: expect.stringContaining("regular expression"),
    });
    expect((await search({ pattern: "x", path: "nowhere" })).json.error).toContain("no such path");
    expect((await search({ pattern: "zzz" })).json).toMatchObject({ total_count: 0, matches: [] });
  });
});

it("asks the gate before it reads or writes, and returns its reason", async () => {
  writeFileSync(at("secret.txt"), "s\n");
  const shut = {
    ...parts,
    gate: {
      ...openGate,
      check: async () => ({
        allowed: false as const,
        status: "blocked" as const,
        message: "protected path",
        rule: "write-deny",
      }),
    },
  };
  for (const tool of [readFileTool(shut), writeFileTool(shut), searchFilesTool(shut)]) {
    const { json } = await callTool(tool, { path: "secret.txt", content: "x", pattern: "x" }, toolContext(folder.path));
    expect(json).toMatchObject({ error: "protected path", status: "blocked" });
  }
  expect(readFileSync(at("secret.txt"), "utf8")).toBe("s\n");
});
