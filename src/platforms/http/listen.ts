// An HTTP server for a Hono application, with limits, errors for used ports and an orderly shutdown.
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Hono } from "hono";
import { UserError } from "../../core/failure.ts";

const HEADERS_MS = 15_000;
const REQUEST_MS = 60_000;
/** Longer than clients keep idle connections: a client must not reuse one that the server is just closing. */
const KEEP_ALIVE_MS = 90_000;

export interface Listening {
  readonly host: string;
  readonly port: number;
  /** `http://host:port` */
  readonly url: string;
  /** Accepts no new connections; open ones are closed after `graceMs`. Idempotent. */
  close(graceMs?: number): Promise<void>;
}

interface Where {
  readonly host: string;
  readonly port: number;
  /** The setting to name in the hint when the port is in use. */
  readonly setting: string;
  /** The caller retries: the port may become free. */
  readonly callerRetries?: boolean | undefined;
}

function details(error: NodeJS.ErrnoException, where: Where): Error {
  const at = `${where.host}:${where.port}`;
  if (error.code === "EADDRINUSE") {
    const hint = `Stop that program, or choose another port with ${where.setting}.`;
    if (where.callerRetries) return new Error(`${at} is in use by another program. ${hint}`, { cause: error });
    return new UserError(`${at} is in use by another program`, { hint, cause: error });
  }
  return new UserError(`cannot listen on ${at}: ${error.message}`, {
    hint: `Check the address, or choose another port with ${where.setting}.`,
    cause: error,
  });
}

/** Port 0 means any free port. */
export function readPort(text: string | undefined, fallback: number, setting: string): number {
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
    serverOptions: {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: 32 * 1024,
    },
  }) as Server;
  await new Promise<void>((resolve, reject) => {
    // Stays attached: an error of a single connection must not end the process.
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
