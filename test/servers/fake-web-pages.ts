// A small website on loopback: pages by path, redirects, errors, slow answers; every request is recorded.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface FakePage {
  readonly status?: number;
  readonly type?: string;
  readonly body?: string | Buffer;
  readonly location?: string;
  readonly hang?: boolean;
}

export interface FakePages {
  readonly url: string;
  readonly visits: readonly string[];
  close(): Promise<void>;
}

export async function fakePages(pages: { readonly [path: string]: FakePage }): Promise<FakePages> {
  const visits: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    visits.push(path);
    const page = pages[path] ?? { status: 404, body: "<h1>Not here</h1>" };
    if (page.hang) return;
    const location = page.location ? { location: page.location } : {};
    response.writeHead(page.status ?? (page.location ? 302 : 200), {
      "content-type": page.type ?? "text/html",
      ...location,
    });
    response.end(page.body ?? "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    visits,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
