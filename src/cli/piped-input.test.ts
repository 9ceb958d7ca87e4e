// Text from a pipe, and inputs that must not block or be sent.
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { attachPiped, PIPED_LIMIT, readPipedInput } from "./piped-input.ts";

const silent = () => undefined;

it("reads a pipe to its end, also one that begins late", async () => {
  const stdin = new PassThrough();
  const reading = readPipedInput(() => stdin, silent, "stream");
  setTimeout(() => stdin.end("\uFEFFzwölf\nlines\n"), 20);
  expect(attachPiped(await reading)).toBe("<stdin>\nzwölf\nlines\n</stdin>");
});

it("does not open a terminal, and does not wait for a socket without data", async () => {
  expect(await readPipedInput(() => expect.unreachable("opened"), silent, "none")).toBe("");
  expect(await readPipedInput(() => new PassThrough(), silent, "socket")).toBe("");
});

it("refuses what is too large, and what is not text", async () => {
  const large = new PassThrough();
  const reading = readPipedInput(() => large, silent, "stream");
  large.write("x".repeat(PIPED_LIMIT + 1));
  await expect(reading).rejects.toMatchObject({ message: expect.stringContaining("more than"), exitCode: 2 });
  const binary = new PassThrough();
  binary.end(Buffer.from([1, 0, 2]));
  await expect(readPipedInput(() => binary, silent, "stream")).rejects.toMatchObject({ exitCode: 2 });
});

it("attaches nothing for white space", () => expect(attachPiped(" \n")).toBe(""));
