// Editing in the composer: graphemes, pasted blocks, undo, kill ring, layout, history, completion.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import type { SlashCommand } from "../../core/chat/command.ts";
import { displayWidth } from "../../lib/text/text-width.ts";
import { KeySplitter } from "../screen/keys.ts";
import { argumentWords, type CompletionSources, complete } from "./completion.ts";
import { editingKey } from "./editing-keys.ts";
import { History } from "./history.ts";
import { layoutText } from "./layout.ts";
import { TextBuffer } from "./text-buffer.ts";

function typed(text: string): TextBuffer {
  const buffer = new TextBuffer();
  buffer.type(text);
  return buffer;
}

describe("the text buffer", () => {
  it("moves and erases by graphemes", () => {
    const buffer = typed("a日👩‍👩‍👧é");
    buffer.erase("left");
    expect(buffer.text).toBe("a日👩‍👩‍👧");
    buffer.move("left");
    buffer.type("|");
    expect(buffer.text).toBe("a日|👩‍👩‍👧");
    buffer.erase("right");
    expect(buffer.text).toBe("a日|");
  });

  it("shows a large paste as one unit and sends it unchanged", () => {
    const block = "\tline\r\n".repeat(50_000);
    const buffer = typed("see ");
    buffer.paste(block);
    expect(buffer.text).toBe("see [pasted #1: 50000 lines]");
    expect(buffer.typedLine.text).toBe(`see ${block}`);
    buffer.move("left");
    expect(buffer.cursor).toBe(4);
    buffer.move("textEnd");
    buffer.erase("left");
    expect(buffer.text).toBe("see ");
    buffer.undo();
    expect(buffer.typedLine.text).toBe(`see ${block}`);
    expect(buffer.typedLine.pastes.size).toBe(1);
  });

  it("takes back whole words and repeats them", () => {
    const buffer = new TextBuffer();
    for (const char of "one two") buffer.type(char);
    buffer.undo();
    expect(buffer.text).toBe("one ");
    buffer.undo();
    buffer.redo();
    expect(buffer.text).toBe("one ");
  });

  it("joins kills in a row and yanks older ones", () => {
    const buffer = typed("one two three");
    buffer.kill("wordLeft");
    buffer.kill("wordLeft");
    expect(buffer.text).toBe("one ");
    buffer.kill("lineStart");
    expect(buffer.text).toBe("");
    buffer.yank();
    expect(buffer.text).toBe("one two three");
  });

  it("never leaves the text, whatever keys are pressed", () => {
    const names = [
      "left",
      "right",
      "alt+b",
      "alt+f",
      "home",
      "end",
      "backspace",
      "delete",
      "ctrl+w",
      "ctrl+k",
      "ctrl+u",
    ];
    const key = fc.oneof(
      fc.constantFrom(...names, "ctrl+y", "alt+y", "ctrl+-", "alt+r", "alt+d").map((name) => ({ name, text: "" })),
      fc.constantFrom("a", "é", "日", "👩‍👩‍👧", "\n", " ", "\u05d0").map((text) => ({ name: "", text })),
    );
    fc.assert(
      fc.property(fc.array(key, { maxLength: 60 }), (keys) => {
        const buffer = new TextBuffer();
        for (const { name, text } of keys) {
          if (text === "") editingKey(buffer, name);
          else buffer.type(text);
          expect(buffer.cursor).toBeGreaterThanOrEqual(0);
          expect(buffer.cursor).toBeLessThanOrEqual(buffer.text.length);
          const layout = layoutText(buffer.text, buffer.cursor, { width: 10, isLabel: buffer.isLabel });
          expect(layout.rows.map((row) => row.text).join("")).toBe(buffer.text.replaceAll("\n", ""));
          for (const row of layout.rows) expect(displayWidth(row.text)).toBeLessThanOrEqual(10);
          expect(layout.cursorColumn).toBeLessThanOrEqual(10);
        }
      }),
    );
  });
});

describe("keys", () => {
  const read = (...chunks: string[]) => {
    const splitter = new KeySplitter();
    return [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.flush()].map((key) => key.name || key.text);
  };

  it("are told apart, also when a sequence arrives in pieces", () => {
    expect(read("ab", "\u001b[", "A", "\u001b\r", "\n", "\r")).toEqual(["ab", "up", "alt+enter", "ctrl+j", "enter"]);
    expect(read("\u001b[13;2u", "\u001b[97u", "\u001b[97;5u")).toEqual(["shift+enter", "a", "ctrl+a"]);
    expect(read("\u001b")).toEqual(["escape"]);
    expect(read("\u001b[?2026;2$y\u001b]11;rgb:0/0/0\u0007x")).toEqual(["", "", "x"]);
    expect(read("\u0003\u007f")).toEqual(["ctrl+c", "backspace"]);
  });
});

describe("the history", () => {
  const folder = mkdtempSync(join(tmpdir(), "hermes-history-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("reads both formats, keeps several lines, and finds what was sent", async () => {
    const file = join(folder, "history");
    writeFileSync(file, "old message\n\n# 2026-01-01 10:00:00\n+first\n+second\n");
    const history = new History(file);
    await history.load();
    expect(history.older("draft")).toBe("first\nsecond");
    expect(history.older("")).toBe("old message");
    expect(history.newer()).toBe("first\nsecond");
    expect(history.newer()).toBe("draft");
    await history.add("new\nlines");
    expect(history.search("LINE")).toEqual(["new\nlines"]);
    const again = new History(file);
    await again.load();
    expect(again.older("")).toBe("new\nlines");
    expect(readFileSync(file, "utf8")).toContain("+new\n+lines\n");
  });
});

describe("completion", () => {
  const command = (name: string, extra: Partial<SlashCommand> = {}): SlashCommand => ({
    name,
    summary: `about ${name}`,
    run: async () => ({ type: "quit" }),
    ...extra,
  });
  const paths = Array.from({ length: 50_000 }, (_, index) => `src/folder${index % 100}/file-${index}.ts`);
  const sources: CompletionSources = {
    commands: () => [command("model", { args: "[name]" }), command("busy", { args: "[queue|steer|interrupt]" })],
    skillCommands: async () => [command("meeting-notes")],
    argumentsOf: async () => [],
    paths: async () => ({ files: [...paths, "docs/my plan.md"], folders: ["docs/"] }),
    sessions: async () => [{ label: "Release", value: "20261117_a" }],
  };
  const labels = async (text: string) =>
    (await complete(text, text.length, sources))?.items.map(({ label }) => label) ?? null;

  it("offers commands, their words, files, folders, sessions and skills", async () => {
    expect(await labels("/mo")).toEqual(["/model [name]", "/meeting-notes"]);
    expect(await labels("/busy s")).toEqual(["steer"]);
    expect(await labels("hello /mo")).toBeNull();
    expect((await labels("see @file-49999"))?.[0]).toBe("src/folder99/file-49999.ts");
    expect(await labels("see @session:rel")).toEqual(["Release"]);
    expect(await labels("see @skill:meet")).toEqual(["meeting-notes"]);
    const quoted = await complete("@plan", 5, sources);
    expect(quoted?.items[0]?.insert).toBe('@file:"docs/my plan.md" ');
    expect(argumentWords("[on|off] name")).toEqual(["on", "off"]);
  });
});
