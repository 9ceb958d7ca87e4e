// Voice notes, pictures and files, in both directions.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  answered,
  closeGateways,
  type GatewayFixture,
  openGatewayFixture,
  texts,
} from "../../../test/kit/gateway-fixture.ts";
import { text } from "../../../test/servers/fake-llm.ts";

const servers: Server[] = [];
afterEach(async () => {
  await closeGateways();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const repeat = (request: { messages: readonly { text?: string }[] }) => text(String(request.messages.at(-1)?.text));

interface AudioServer {
  readonly url: string;
  readonly asked: { readonly path: string; readonly key: string; readonly body: string }[];
}

/** Speech in both directions, as OpenAI's interface has it. */
async function audioServer(words: string, status = 200): Promise<AudioServer> {
  const asked: AudioServer["asked"] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    asked.push({
      path: request.url ?? "",
      key: request.headers.authorization ?? "",
      body: Buffer.concat(chunks).toString("latin1"),
    });
    if (request.url?.endsWith("/speech")) response.end(Buffer.from("OggS-spoken"));
    else response.writeHead(status).end(JSON.stringify({ text: words }));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

function voiceNote(w: GatewayFixture, user: number): void {
  w.telegram.files.set("V1", Buffer.from("OggS-recording"));
  const voice = { file_id: "V1", file_unique_id: "u", duration: 2, mime_type: "audio/ogg", file_size: 14 };
  w.telegram.say(user, "", { extra: { voice, text: undefined } });
}

describe("a voice note", () => {
  it("is written down by the configured service", async () => {
    const audio = await audioServer("call the plumber");
    const config = `stt:\n  provider: openai\n  openai:\n    base_url: ${audio.url}\n    model: whisper-test\n`;
    const env = { TELEGRAM_ALLOWED_USERS: "1", VOICE_TOOLS_OPENAI_KEY: "voice-key-123456", OPENAI_API_KEY: "sk-other" };
    const w = await openGatewayFixture({ script: repeat, config, env });
    voiceNote(w, 1);
    await answered(w, 1);
    expect(texts(w, 1)).toHaveLength(1);
    expect(texts(w, 1)[0]).toContain("call the plumber");
    expect(audio.asked[0]).toMatchObject({ path: "/v1/audio/transcriptions", key: "Bearer voice-key-123456" });
    expect(audio.asked[0]?.body).toContain("OggS-recording");
    expect(audio.asked[0]?.body).toContain("whisper-test");
  });

  it("is written down by a program of this machine", async () => {
    const w = await openGatewayFixture({
      script: repeat,
      env: {
        TELEGRAM_ALLOWED_USERS: "1",
        HERMES_LOCAL_STT_COMMAND: "cp {input_path} {output_dir}/copy.raw; echo heard by {model} > {output_dir}/out.txt",
      },
    });
    voiceNote(w, 1);
    await answered(w, 1);
    expect(texts(w, 1)[0]).toContain("heard by base");
  });

  it("is owned up to when nothing can listen, to the model and to the person", async () => {
    const w = await openGatewayFixture({ script: repeat, config: "stt:\n  provider: groq\n" });
    voiceNote(w, 1);
    await answered(w, 1, 2);
    expect(texts(w, 1)[0]).toMatch(/^🎤 Recordings cannot be transcribed here: .*groq/);
    expect(texts(w, 1)[1]).toContain("You do not know what was said");
  });

  it("that the service refuses is reported, without the key", async () => {
    const audio = await audioServer("no", 500);
    const config = `stt:\n  provider: openai\n  openai:\n    base_url: ${audio.url}\n`;
    const w = await openGatewayFixture({ script: repeat, config });
    voiceNote(w, 1);
    await answered(w, 1, 2);
    expect(texts(w, 1)[0]).toContain("could not be transcribed: OpenAI answered 500");
    expect(audio.asked[0]?.key).toBe("");
  });
});

describe("spoken answers", () => {
  it("come where the chat asked for them", async () => {
    const audio = await audioServer("hello there");
    const config = `stt:\n  provider: openai\n  openai:\n    base_url: ${audio.url}\ntts:\n  provider: openai\n  openai:\n    base_url: ${audio.url}\n`;
    const w = await openGatewayFixture({ script: () => text("**Good** morning"), config });
    w.telegram.say(1, "/voice on");
    await answered(w, 1);
    w.telegram.say(1, "text stays text");
    await answered(w, 1, 2);
    voiceNote(w, 1);
    await w.telegram.until(() => w.telegram.fromBot(1).length === 4);
    expect(w.telegram.fromBot(1).map((message) => message.kind)).toEqual(["message", "message", "voice", "message"]);
    const spoken = audio.asked.find((each) => each.path.endsWith("/speech"));
    expect(JSON.parse(spoken?.body ?? "{}")).toMatchObject({ input: "Good morning", response_format: "opus" });
    await w.restart();
    w.telegram.say(1, "/voice status");
    await answered(w, 1, 5);
    expect(texts(w, 1).at(-1)).toContain("Voice notes are answered with a voice note");
  });

  it("are refused plainly where nothing can speak", async () => {
    const w = await openGatewayFixture();
    w.telegram.say(1, "/voice tts");
    await answered(w, 1);
    expect(texts(w, 1)[0]).toContain("Speech is not available");
  });
});

function photo(w: GatewayFixture, user: number): void {
  w.telegram.files.set("P1", PNG);
  const size = { file_id: "P1", file_unique_id: "u", width: 1, height: 1, file_size: PNG.length };
  w.telegram.say(user, "", { extra: { photo: [size], caption: "what is this?", text: undefined } });
}

describe("a picture", () => {
  it("goes to a model that sees as it is", async () => {
    const w = await openGatewayFixture({ script: () => text("A dot.") });
    photo(w, 1);
    await answered(w, 1);
    const sent = JSON.stringify(w.llm.requests[0]?.body);
    expect(sent).toContain(`data:image/png;base64,${PNG.toString("base64")}`);
    expect(sent).toContain("what is this?");
  });

  it("is described for a model that does not see", async () => {
    const script = (request: { body: unknown; tools: readonly unknown[] }) =>
      text(JSON.stringify(request.body).includes("image_url") ? "One red dot." : "Thanks for the description.");
    const w = await openGatewayFixture({ script: script as never, config: "agent:\n  image_input_mode: text\n" });
    photo(w, 1);
    await answered(w, 1);
    expect(texts(w, 1)).toEqual(["Thanks for the description."]);
    const last = w.llm.requests.find((request) => request.tools.length > 0);
    expect(last?.messages.at(-1)?.text).toContain("Description by a vision model:\nOne red dot.");
    expect(JSON.stringify(last?.body)).not.toContain("image_url");
  });
});

describe("an album", () => {
  const piece = (w: GatewayFixture, name: string, caption?: string) => {
    w.telegram.files.set(name, PNG);
    const size = { file_id: name, file_unique_id: name, width: 1, height: 1, file_size: PNG.length };
    const extra = { photo: [size], media_group_id: "g1", text: undefined, ...(caption ? { caption } : {}) };
    w.telegram.say(1, "", { extra });
  };
  const pictures = (body: unknown) => JSON.stringify(body).split("data:image/png").length - 1;

  it("is one message, and what follows it comes after it", async () => {
    const w = await openGatewayFixture({ script: () => text("Seen."), config: "display:\n  busy_input_mode: queue\n" });
    piece(w, "A1", "which is best?");
    piece(w, "A2");
    piece(w, "A3");
    await answered(w, 1);
    w.telegram.say(1, "thanks");
    await answered(w, 1, 2);
    expect(texts(w, 1)).toEqual(["Seen.", "Seen."]);
    expect(pictures(w.llm.requests[0]?.body)).toBe(3);
    expect((await w.opened.mailbox.counts()).inbox).toBe(0);
  });

  it("is one message after a restart too", async () => {
    const w = await openGatewayFixture({ script: () => text("Seen.") });
    piece(w, "A1", "which is best?");
    piece(w, "A2");
    await w.telegram.until(() => w.telegram.unconfirmed === 0);
    await w.restart();
    await answered(w, 1);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(texts(w, 1)).toEqual(["Seen."]);
    expect(pictures(w.llm.requests[0]?.body)).toBe(2);
    expect((await w.opened.mailbox.counts()).inbox).toBe(0);
  });
});

describe("a file that waited for the gateway's start", () => {
  it("is fetched when the platform is connected", async () => {
    const w = await openGatewayFixture({ script: repeat });
    w.telegram.files.set("D1", Buffer.from("one,two"));
    const attachments = [{ kind: "document" as const, name: "numbers.csv", ref: "D1", bytes: 7 }];
    const source = { platform: "telegram", chatId: "1", chatKind: "dm" as const, userId: "1" };
    const event = { account: "123456", messageId: "900", source, text: "add them", attachments, at: Date.now() };
    await w.opened.mailbox.accept("telegram", [event]);
    w.telegram.fault = "error";
    await w.restart();
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    w.telegram.fault = "none";
    await answered(w, 1);
    expect(texts(w, 1)[0]).toContain("one,two");
  });
});

describe("a file", () => {
  it("that does not come is not waited for after /stop", async () => {
    const w = await openGatewayFixture();
    w.telegram.files.set("D1", "stalled");
    const document = { file_id: "D1", file_unique_id: "u", file_name: "notes.txt", mime_type: "text/plain" };
    w.telegram.say(1, "", { extra: { document, text: undefined, caption: "read this" } });
    await expect.poll(async () => (await w.gateway.status()).activeTurns).toBe(1);
    w.telegram.say(1, "/stop");
    await w.telegram.until(() => texts(w, 1).includes("Stopped."));
    expect(w.llm.requests).toHaveLength(0);
  });
});

describe("an answer with files", () => {
  it("says when a file cannot be sent", async () => {
    const w = await openGatewayFixture({
      script: (request) => text(`Here.\nMEDIA:${String(request.messages.at(-1)?.text)}`),
    });
    const path = join(w.home.path, "report.pdf");
    writeFileSync(path, "x");
    const why = `Request Entity Too Large for ${w.telegram.token}`;
    w.telegram.refuse = (method) => (method === "sendDocument" ? [413, why] : null);
    w.telegram.say(1, path);
    await answered(w, 1, 2);
    expect(texts(w, 1)[1]).toMatch(/^⚠️ report.pdf could not be sent: Request Entity Too Large for /);
    expect(texts(w, 1)[1]).not.toContain(w.telegram.token);
  });

  it("does not send what is protected, whatever the path says", async () => {
    const w = await openGatewayFixture({
      script: (request) => text(`Here.\nMEDIA:${String(request.messages.at(-1)?.text)}`),
      env: { TELEGRAM_ALLOWED_USERS: "1", HOME: "/nonexistent" },
    });
    const key = join(w.home.path, "auth.json");
    const link = join(w.home.path, "notes.txt");
    mkdirSync(join(w.home.path, "out"));
    writeFileSync(key, '{"secret":1}');
    symlinkSync(key, link);
    const free = join(w.home.path, "out", "free.txt");
    writeFileSync(free, "free");
    w.telegram.say(1, link);
    await answered(w, 1);
    expect(texts(w, 1)).toEqual(["Here.\n\n[A protected file was not sent.]"]);
    w.telegram.say(1, free);
    await w.telegram.until(() => w.telegram.fromBot(1).some((message) => message.kind === "document"));
  });
});
