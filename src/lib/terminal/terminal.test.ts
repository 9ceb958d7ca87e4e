// Questions on the console, answered by a user or a pipe.
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { Terminal } from "./terminal.ts";

function terminal() {
  const stdin = new PassThrough();
  const stderr = new PassThrough();
  return { stdin, stderr, asker: new Terminal({ stdin, stdout: new PassThrough(), stderr }) };
}

test("lines in one chunk answer one question each, and the end of input is reported", async () => {
  const { stdin, stderr, asker } = terminal();
  stdin.write("one\ntwo\nyes\n");
  expect(await asker.ask("First? ")).toBe("one");
  expect(await asker.ask("Second? ")).toBe("two");
  expect(await asker.confirm("Sure?")).toBe(true);
  stdin.end();
  expect(await asker.ask("More? ")).toBeNull();
  expect(String(stderr.read())).toContain("First? Second? \nSure? [y/N] \nMore? ");
});

test("lines in one chunk also answer hidden questions, in either order", async () => {
  const { stdin, stderr, asker } = terminal();
  stdin.write("key\r\nAda\nsecond key\nthird\n");
  expect(await asker.askHidden("Key? ")).toBe("key");
  expect(await asker.ask("Name? ")).toBe("Ada");
  expect(await asker.askHidden("Key? ")).toBe("second key");
  expect(await asker.ask("More? ")).toBe("third");
  stdin.end();
  expect(await asker.askHidden("Key? ")).toBeNull();
  expect(await asker.askHidden("Key? ")).toBeNull();
  expect(await asker.ask("More? ")).toBeNull();
  expect(String(stderr.read())).not.toContain("key");
});

test("waits for an answer that comes later", async () => {
  const { stdin, asker } = terminal();
  const first = asker.ask("First? ");
  setTimeout(() => stdin.write("late\n"), 20);
  expect(await first).toBe("late");
  const second = asker.ask("Second? ");
  setTimeout(() => stdin.write("later\n"), 20);
  expect(await second).toBe("later");
});

test("errors wrap at spaces on a terminal, and not in a file", () => {
  const { stdin, stderr } = terminal();
  const line = "error: the working directory does not exist";
  new Terminal({ stdin, stdout: new PassThrough(), stderr: Object.assign(stderr, { isTTY: true, columns: 20 }) }).err(
    line,
  );
  expect(String(stderr.read())).toBe("error: the working\ndirectory does not\nexist\n");
  const file = new PassThrough();
  new Terminal({ stdin, stdout: new PassThrough(), stderr: file }).err(line);
  expect(String(file.read())).toBe(`${line}\n`);
});

test("a closed pipe does not end the program", () => {
  const stdout = new PassThrough();
  const made = new Terminal({ stdin: new PassThrough(), stdout, stderr: new PassThrough() });
  stdout.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
  expect(() => made.out("more")).not.toThrow();
});
