// Parameters of a Bot API call.
import type { IncomingMessage } from "node:http";

export interface Params {
  readonly [name: string]: unknown;
}

/** JSON, or a form with files. */
export async function readParams(request: IncomingMessage): Promise<Params> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const type = request.headers["content-type"] ?? "";
  if (type.includes("json")) return JSON.parse(bytes.toString("utf8") || "{}") as Params;
  const boundary = /boundary=(.+)$/.exec(type)?.[1];
  if (!boundary) return {};
  const params: { [name: string]: unknown } = {};
  for (const part of bytes.toString("latin1").split(`--${boundary}`)) {
    const name = /name="([^"]+)"/.exec(part)?.[1];
    if (!name) continue;
    const value = part.slice(part.indexOf("\r\n\r\n") + 4).replace(/\r\n$/, "");
    const file = /filename=/.test(part);
    params[name] = file ? { bytes: Buffer.from(value, "latin1") } : Buffer.from(value, "latin1").toString("utf8");
  }
  return params;
}
