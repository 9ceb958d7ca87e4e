// Signs in to a remote server: the browser's answer arrives on a local port, or the user pastes the address it ended at.
import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { UserError } from "../../core/failure.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { RemoteOptions } from "../server-options.ts";
import { StoredSignIn } from "./stored-sign-in.ts";

export interface SignInUser {
  /** Shows the address to open; a surface may also start a browser. */
  show(url: string): void;
  /** Reads an address that the user pastes, where the browser runs on another machine; never resolves otherwise. */
  pasted(signal: AbortSignal): Promise<string>;
}

class InteractiveSignIn extends StoredSignIn {
  readonly #redirect: string;
  readonly #user: SignInUser;
  readonly state = (): string => this.expectedState;
  readonly expectedState = randomBytes(16).toString("hex");

  constructor(options: RemoteOptions, homePath: string, redirect: string, user: SignInUser) {
    super(options, homePath);
    this.#redirect = redirect;
    this.#user = user;
  }

  override get redirectUrl(): string {
    return this.#redirect;
  }

  override redirectToAuthorization(url: URL): void {
    this.#user.show(url.href);
  }
}

async function listen(port: number): Promise<{ server: Server; url: string; answer: Promise<URL> }> {
  let resolve: (url: URL) => void = () => undefined;
  const answer = new Promise<URL>((done) => {
    resolve = done;
  });
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const isAnswer = url.pathname === "/callback" && (url.searchParams.has("code") || url.searchParams.has("error"));
    response.writeHead(isAnswer ? 200 : 404, { "content-type": "text/plain; charset=utf-8" });
    response.end(isAnswer ? "Signed in. You can close this page.\n" : "Nothing here.\n");
    if (isAnswer) resolve(url);
  });
  await new Promise<void>((done, fail) => {
    server.once("error", fail);
    server.listen(port, "127.0.0.1", done);
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`, answer };
}

function codeFrom(url: URL, state: string): string {
  const failure = url.searchParams.get("error");
  if (failure) throw new UserError(`the sign-in was refused: ${url.searchParams.get("error_description") ?? failure}`);
  if (url.searchParams.get("state") !== state)
    throw new UserError("the answer belongs to another sign-in", { hint: "Start again with: hermes mcp login" });
  const code = url.searchParams.get("code");
  if (!code) throw new UserError("the address has no code", { hint: "Paste the whole address of the last page." });
  return code;
}

/** Errors of the authorization server as a sentence for the user. */
function fail(error: unknown): never {
  throw new UserError(`the sign-in failed: ${errorMessage(error)}`, {
    hint: "Check the address of the server, and its oauth settings.",
  });
}

/** Resolves when tokens are stored. Rejects with UserError after the time limit of the settings. */
export async function signIn(options: RemoteOptions, homePath: string, user: SignInUser): Promise<void> {
  const { auth } = await import("@modelcontextprotocol/client");
  const { server, url, answer } = await listen(options.oauth?.redirectPort ?? 0);
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), options.oauth?.timeoutMs ?? 600_000);
  try {
    const provider = new InteractiveSignIn(options, homePath, url, user);
    // A client that was registered for another port cannot be used again.
    await provider.invalidateCredentials("client");
    if ((await auth(provider, { serverUrl: options.url }).catch(fail)) === "AUTHORIZED") return;
    const timedOut = new Promise<never>((_resolve, reject) =>
      stop.signal.addEventListener("abort", () => reject(new UserError("there was no sign-in within the time limit"))),
    );
    const pasted = user.pasted(stop.signal).then((text) => new URL(text.trim(), url));
    const end = await Promise.race([answer, pasted, timedOut]);
    const authorizationCode = codeFrom(end, provider.expectedState);
    const iss = end.searchParams.get("iss") ?? undefined;
    const result = await auth(provider, { serverUrl: options.url, authorizationCode, ...(iss ? { iss } : {}) }).catch(
      fail,
    );
    if (result !== "AUTHORIZED") throw new UserError("the server did not accept the sign-in");
  } finally {
    clearTimeout(timer);
    stop.abort();
    server.closeAllConnections();
    server.close();
  }
}
