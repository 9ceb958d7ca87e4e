// The control socket of a running gateway: only a socket of the same owner is trusted.
import { chownSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Home } from "../src/core/home.ts";
import { askGateway, controlPath, serveControl } from "../src/gateway-control/api/control-socket.ts";
import { openHome } from "../src/home/api.ts";
import { tempDir } from "./kit/temp-dir.ts";

let root: string;
beforeEach(() => {
  root = tempDir("hermes-control-");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function homeAt(path: string): Home {
  mkdirSync(path, { recursive: true });
  return openHome([], { env: { HERMES_HOME: path }, cwd: path, platform: process.platform, homedir: path }).home;
}

const handlers = {
  status: async () => ({ well: true }),
  stop: () => undefined,
  restart: () => undefined,
  reload: async () => ({ changed: false }),
  deliver: async () => ({}),
  runJob: async (id: string) => ({ run: id.length }),
};

it("answers in the home, and outside of it where the path is too long for a socket", async () => {
  for (const home of [homeAt(join(root, "short")), homeAt(join(root, "long".repeat(30)))]) {
    expect(await askGateway(home, "status")).toBeNull();
    const control = await serveControl(home, handlers);
    expect(await askGateway(home, "status")).toEqual({ well: true });
    expect(await askGateway(home, "run-job abc")).toEqual({ run: 3 });
    await control.close();
  }
});

it.skipIf(process.getuid?.() !== 0)("does not talk to a socket that somebody else put there", async () => {
  const home = homeAt(join(root, "long".repeat(30)));
  const control = await serveControl(home, handlers);
  chownSync(controlPath(home), 65534, 65534);
  expect(await askGateway(home, "status")).toBeNull();
  await control.close();
});
