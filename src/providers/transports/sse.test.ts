import fc from "fast-check";
import { expect, test } from "vitest";
import { SseReader } from "./sse.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("names, several lines of data, comments, and all three kinds of line breaks", () => {
  const text = ": hello\r\nevent: one\r\ndata: a\r\ndata:b\r\n\r\ndata: c\n\nid: 7\nevent:two\rdata: {}\r\r";
  expect(new SseReader().read(bytes(text))).toEqual([
    { event: "one", data: "a\nb" },
    { event: "", data: "c" },
    { event: "two", data: "{}" },
  ]);
  const reader = new SseReader();
  expect(reader.read(bytes(text))).toHaveLength(3);
  expect(reader.read(bytes("\ndata: d\n\n"))).toEqual([{ event: "", data: "d" }]);
});

test("a message without a blank line is returned at the end of the body", () => {
  const reader = new SseReader();
  expect(reader.read(bytes("data: whole\n\ndata: hal"))).toEqual([{ event: "", data: "whole" }]);
  expect(reader.read(bytes("f\n"))).toEqual([]);
  expect(reader.end()).toEqual([{ event: "", data: "half" }]);
  expect(reader.end()).toEqual([]);
});

test("the same messages wherever the bytes are cut", () => {
  const message = fc.record({ event: fc.stringMatching(/^[a-z.]{0,8}$/), data: fc.string({ minLength: 1 }) });
  const plain = (text: string) => text.replace(/[\r\n]/g, " ");
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 6 }),
      fc.constantFrom("\n", "\r\n"),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      (messages, end, sizes) => {
        const whole = messages
          .map(({ event, data }) => `${event ? `event: ${event}${end}` : ""}data: ${plain(data)}${end}${end}`)
          .join("");
        const all = bytes(`${whole}data: end${end}${end}`);
        const reader = new SseReader();
        const read = [];
        for (let at = 0; at < all.length; ) {
          const size = sizes.next().value;
          read.push(...reader.read(all.subarray(at, at + size)));
          at += size;
        }
        const expected = messages.map(({ event, data }) => ({ event, data: plain(data) }));
        expect(read).toEqual([...expected, { event: "", data: "end" }]);
      },
    ),
  );
});
