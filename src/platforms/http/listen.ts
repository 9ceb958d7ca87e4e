// A listening HTTP server for a Hono application: one place for limits, port trouble and an orderly end.
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Hono } from "hono";
import { UserError } from "../../core/failure.ts";

const HEADERS_MS = 15_000;
const REQUEST_MS = 60_000;

export interface Listening {
  readonly host: string;
  readonly port: number;
  /** `http://host:port`, as a person would type it. */
  readonly url: string;
  /** No new connections; open ones get `graceMs` to finish, then they are cut. Idempotent. */
  close(graceMs?: number): Promise<void>;
}

interface Where {
  readonly host: string;
  readonly port: number;
  /** Named in the hint when the port is taken. */
  readonly setting: string;
  /** Whoever asks tries again by itself: a port that is taken may become free. */
  readonly untimed?: boolean | undefined;
}

function details(error: NodeJS.ErrnoException, where: Where): Error {
  const at = `${where.host}:${where.port}`;
  if (error.code === "EADDRINUSE") {
    const hint = `Stop that program, or choose another port with ${where.setting}.`;
    if (where.untimed) return new Error(`${at} is in use by another program. ${hint}`, { cause: error });
    return new UserError(`${at} is in use by another program`, { hint, cause: error });
  }
  return new UserError(`cannot listen on ${at}: ${error.message}`, {
    hint: `Check the address, or choose another port with ${where.setting}.`,
    cause: error,
  });
}

/** Port 0 means any that is free. */
export function portOf(text: string | undefined, fallback: number, setting: string): number {
  if (text === undefined || text.trim() === "") return fallback;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UserError(`${setting} is "${text}"; a port is a whole number up to 65535`, { hint: `Change ${setting}.` });
}

export async function listen(app: Hono, where: Where): Promise<Listening> {
  const { createAdaptorServer } = await import("@hono/node-server");
  const server = createAdaptorServer({
    fetch: app.fetch,
    overrideGlobalObjects: false,
    serverOptions: { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, maxHeaderSize: 32 * 1024 },
  }) as Server;
  await new Promise<void>((resolve, reject) => {
    // It stays: trouble with a single connection later on must not end the program.
    server.on("error", (error) => reject(details(error, where)));
    server.listen(where.port, where.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const shown = where.host.includes(":") ? `[${where.host}]` : where.host;
  let closing: Promise<void> | undefined;
  return {
    host: where.host,
    port,
    url: `http://${shown}:${port}`,
    close: (graceMs = 0) => {
      closing ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), graceMs).unref();
      });
      return closing;
    },
  };
}
