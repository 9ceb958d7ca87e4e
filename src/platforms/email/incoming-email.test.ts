// Parsing of e-mails, sender checks, and classification of SMTP errors.
import fc from "fast-check";
import { expect, it } from "vitest";
import { toEmailHtml } from "./email-html.ts";
import { sendFailure } from "./email-sender.ts";
import { withoutQuote } from "./email-text.ts";
import { isAllowed, isProven, loopReason, parseEmail } from "./incoming-email.ts";
import { baseSubject } from "./threads.ts";

function raw(headers: { [name: string]: string }, body = "Hello"): Uint8Array {
  const lines = Object.entries({ From: "Ada <ada@mail.test>", Subject: "Hi", "Message-ID": "<1@x>", ...headers });
  return Buffer.from(`${lines.map(([name, value]) => `${name}: ${value}`).join("\r\n")}\r\n\r\n${body}`);
}

async function reason(headers: { [name: string]: string }): Promise<string | undefined> {
  const { message, email } = await parseEmail(raw(headers));
  return loopReason(email, message, "bot@mail.test");
}

it("accepts e-mails of people and rejects automatic ones", async () => {
  expect(await reason({})).toBeUndefined();
  expect(await reason({ "Auto-Submitted": "no" })).toBeUndefined();
  const machines = [
    { From: "bot@mail.test" },
    { From: "Bot <BOT@mail.test>" },
    { From: "no-reply@shop.test" },
    { From: "MAILER-DAEMON@mail.test" },
    { "Auto-Submitted": "auto-replied" },
    { Precedence: "bulk" },
    { "List-Id": "<list.test>" },
    { "Return-Path": "<>" },
    { "X-Auto-Response-Suppress": "All" },
    { From: "" },
  ];
  for (const headers of machines) expect(await reason(headers as { [name: string]: string })).toBeDefined();
});

it("compares whole sender addresses", () => {
  expect(isAllowed("ada@mail.test", ["ada@mail.test"])).toBe(true);
  expect(isAllowed("ada@evil.test", ["ada@mail.test", "ada"])).toBe(false);
  expect(isAllowed("eve@mail.test.evil.test", ["@mail.test"])).toBe(false);
  expect(isAllowed("eve@mail.test", ["@mail.test"])).toBe(true);
  expect(isAllowed("eve@mail.test", [])).toBe(false);
});

it("trusts only its own server's authentication results", async () => {
  const proven = async (value?: string) => {
    const { message, email } = await parseEmail(raw(value ? { "Authentication-Results": value } : {}));
    return isProven(email, message.from, { authserv: "mx.home.test" });
  };
  expect(await proven()).toBe(false);
  expect(await proven("mx.home.test; dmarc=pass header.from=mail.test")).toBe(true);
  expect(await proven("mx.home.test; dkim=pass header.d=mail.test")).toBe(true);
  expect(await proven("mx.home.test; dkim=pass header.d=evil.test; dmarc=fail")).toBe(false);
  expect(await proven("mx.evil.test; dmarc=pass")).toBe(false);
});

it("reads e-mails that have HTML only", async () => {
  const html = "<p>Hello&nbsp;&amp; welcome</p><ul><li>one</li><li>two</li></ul>";
  const { message } = await parseEmail(raw({ "Content-Type": "text/html" }, html));
  expect(message.text).toBe("Hello & welcome\n- one\n- two");
});

it("removes the quoted e-mail and keeps text between quotes", () => {
  expect(withoutQuote("Yes.\n\nOn Mon, 1 Jan 2026, Bot wrote:\n> Shall I?\n> \n")).toBe("Yes.");
  expect(
    withoutQuote("Yes.\n\nOn Mon, 1 Jan 2026 at 10:00, Some Very Long Name\n<bot@mail.test> wrote:\n\n> Shall I?"),
  ).toBe("Yes.");
  expect(withoutQuote("> Shall I?\n\nYes.")).toBe("> Shall I?\n\nYes.");
  expect(withoutQuote("> only a quote")).toBe("> only a quote");
});

it("renders Markdown as HTML without active content", async () => {
  expect(await toEmailHtml("Hi **Ada** & <b>\n\n```js\n1 < 2\n```\nsee [x](https://x.test)")).toBe(
    '<p>Hi <b>Ada</b> &amp; &lt;b&gt;</p>\n<pre>1 &lt; 2\n</pre>\n<p>see <a href="https://x.test">x</a></p>',
  );
  expect(await toEmailHtml("- **a _b_**\n  1. c\n\n> quote\n\n[no](javascript:x) one\ntwo")).toBe(
    "<ul>\n<li><b>a <i>b</i></b>\n<ol>\n<li>c</li>\n</ol></li>\n</ul>\n<blockquote>\n<p>quote</p>\n</blockquote>\n<p>[no](javascript:x) one<br>\ntwo</p>",
  );
});

it.each([
  ["refused", { responseCode: 550, command: "RCPT TO" }, false],
  ["retry", { responseCode: 451, command: "RCPT TO" }, false],
  ["retry", { code: "ESOCKET", command: "CONN" }, false],
  ["retry", { code: "EAUTH", responseCode: 535, command: "AUTH PLAIN" }, false],
  ["refused", { code: "EENVELOPE", command: "API" }, false],
  ["refused", { code: "ESTREAM", command: "API" }, true],
  ["refused", { responseCode: 554, command: "DATA" }, true],
  ["unknown", { code: "ECONNECTION", command: "CONN" }, true],
  ["unknown", { code: "ETIMEDOUT", command: "CONN" }, true],
])("classifies an SMTP failure as %s: %j, transfer started: %s", (kind, failure, transferStarted) => {
  expect(sendFailure({ message: "no", ...failure }, transferStarted).kind).toBe(kind);
});

it("throws only Error instances for arbitrary bytes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (bytes) => {
      const { message } = await parseEmail(bytes);
      expect(typeof message.text).toBe("string");
    }),
    { numRuns: 100 },
  );
  await fc.assert(
    fc.asyncProperty(fc.string(), async (text) => {
      expect(withoutQuote(text).length).toBeLessThanOrEqual(text.length);
      expect(await toEmailHtml(text)).not.toMatch(/<script/i);
    }),
  );
  expect(baseSubject("Re: AW: Fwd[2]: Plans")).toBe("Plans");
});
