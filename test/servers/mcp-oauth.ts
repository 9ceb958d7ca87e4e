// A remote MCP server behind a sign-in: the official reference server, guarded by tokens of a real authorization server.
import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { freePort } from "../kit/free-port.ts";
import { until } from "../kit/until.ts";

const resolve = createRequire(import.meta.url).resolve;

export interface GuardedMcp {
  /** The address of the guarded server. */
  readonly url: string;
  /** The address without a guard. */
  readonly open: string;
  /** How many tokens were issued by each grant. */
  readonly grants: { [grant: string]: number };
  /** Opens the sign-in page, signs in and agrees, as a user would in a browser; returns the last address. */
  agree(address: string): Promise<string>;
  close(): Promise<void>;
}

interface Issuer {
  readonly server: Server;
  readonly url: string;
  isValid(token: string): Promise<boolean>;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function startIssuer(resource: string, grants: GuardedMcp["grants"], tokenSeconds: number): Promise<Issuer> {
  const { default: Provider } = await import("oidc-provider");
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const provider = new Provider(url, {
    features: {
      registration: { enabled: true },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope: "tools", audience: resource, accessTokenTTL: tokenSeconds }),
      },
    },
    scopes: ["openid", "offline_access", "tools"],
    issueRefreshToken: async () => true,
    pkce: { required: () => true },
    clientDefaults: { token_endpoint_auth_method: "none", grant_types: ["authorization_code", "refresh_token"] },
  });
  provider.on("grant.success", (ctx: { oidc: { params: { grant_type: string } } }) => {
    const { grant_type } = ctx.oidc.params;
    grants[grant_type] = (grants[grant_type] ?? 0) + 1;
  });
  const server = createServer(provider.callback());
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  return { server, url, isValid: async (token) => (await provider.AccessToken.find(token))?.isValid ?? false };
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, target: string): void {
  const sent = request(target, { method: incoming.method, headers: incoming.headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  sent.on("error", () => outgoing.writeHead(502).end());
  incoming.pipe(sent);
}

/** Follows redirects with cookies, and submits the two forms of the sign-in pages. */
async function agree(address: string): Promise<string> {
  const cookies = new Map<string, string>();
  let url = address;
  let body: URLSearchParams | undefined;
  for (let step = 0; step < 20; step++) {
    const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") };
    const answer = await fetch(url, { redirect: "manual", headers, ...(body ? { method: "POST", body } : {}) });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    body = undefined;
    const next = answer.headers.get("location");
    if (next) {
      url = new URL(next, url).href;
      if (new URL(url).pathname === "/callback") return url;
      continue;
    }
    const page = await answer.text();
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
    if (!prompt) throw new Error(`the sign-in page has no form: ${page.slice(0, 200)}`);
    body = new URLSearchParams({ prompt, ...(prompt === "login" ? { login: "ada", password: "secret" } : {}) });
    url = new URL(/action="([^"]+)"/.exec(page)?.[1] ?? url, url).href;
  }
  throw new Error("the sign-in did not end");
}

async function startEverything(): Promise<{ child: ChildProcess; url: string }> {
  const folder = dirname(resolve("@modelcontextprotocol/server-everything/package.json"));
  const port = await freePort();
  const child = spawn(process.execPath, [join(folder, "dist", "index.js"), "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: "ignore",
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  await until(async () => (await fetch(url).catch(() => undefined)) !== undefined);
  return { child, url };
}

export async function startGuardedMcp(tokenSeconds = 3_600): Promise<GuardedMcp> {
  const grants: GuardedMcp["grants"] = {};
  const { child, url: open } = await startEverything();
  let issuer: Issuer | undefined;
  const guard = createServer(async (incoming, outgoing) => {
    const path = new URL(incoming.url ?? "/", "http://x").pathname;
    if (path.startsWith("/.well-known/oauth-protected-resource")) {
      outgoing.setHeader("content-type", "application/json");
      outgoing.end(
        JSON.stringify({
          resource: `${base}/mcp`,
          authorization_servers: [issuer?.url],
          scopes_supported: ["tools", "offline_access"],
        }),
      );
      return;
    }
    const token = /^Bearer (.+)$/.exec(incoming.headers.authorization ?? "")?.[1];
    if (token && (await issuer?.isValid(token))) return forward(incoming, outgoing, open);
    const metadata = `${base}/.well-known/oauth-protected-resource/mcp`;
    outgoing.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadata}"` }).end();
  });
  const base = await listen(guard);
  issuer = await startIssuer(`${base}/mcp`, grants, tokenSeconds);
  return {
    url: `${base}/mcp`,
    open,
    grants,
    agree,
    close: async () => {
      child.kill();
      for (const server of [guard, issuer?.server]) {
        server?.closeAllConnections();
        server?.close();
      }
    },
  };
}
