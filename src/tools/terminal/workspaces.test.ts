import { expect, it } from "vitest";
import { plainRedactor } from "../../../test/kit/tool-context.ts";
import type { Backend } from "./backend.ts";
import { Workspaces } from "./workspaces.ts";

function backend(closed: string[], name: string, state: { remote: boolean; busy: boolean }): Backend {
  return {
    name,
    get busy() {
      return state.busy;
    },
    remote: state.remote,
    cwd: `/${name}`,
    available: async () => ({ ok: true }),
    run: () => Promise.reject(new Error("not run here")),
    spawn: () => Promise.reject(new Error("not run here")),
    close: async () => void closed.push(name),
  };
}

it("closes idle remote backends, but no busy or local ones", async () => {
  const closed: string[] = [];
  const busy = { remote: true, busy: true };
  const workspaces = new Workspaces(
    async (_, id) => backend(closed, id, id === "busy" ? busy : { remote: id !== "local", busy: false }),
    plainRedactor,
    { idleMs: 1_000 },
  );
  for (const id of ["busy", "idle", "local"]) await workspaces.backend(id, "/start");
  await workspaces.reap(Date.now());
  expect(closed).toEqual([]);
  await workspaces.reap(Date.now() + 2_000);
  expect(closed).toEqual(["idle"]);
  expect(workspaces.cwd("idle", "/start")).toBe("/start");
  busy.busy = false;
  await workspaces.reap(Date.now() + 2_000);
  expect(closed).toEqual(["idle", "busy"]);
  await workspaces.close();
  expect(closed).toEqual(["idle", "busy", "local"]);
});

it("keeps the backends of the latest conversations, and busy ones", async () => {
  const closed: string[] = [];
  const state = { remote: false, busy: true };
  const workspaces = new Workspaces(
    async (_, id) => backend(closed, id, id === "works" ? state : { remote: false, busy: false }),
    plainRedactor,
    { most: 3, restMs: 0 },
  );
  for (const id of ["works", "a", "b", "a", "c", "d"]) await workspaces.backend(id, "/start");
  await expect.poll(() => closed).toEqual(["b", "a"]);
  expect(workspaces.cwd("a", "/start")).toBe("/start");
  expect((await workspaces.backend("a", "/start")).cwd).toBe("/a");
  await workspaces.close();
});

it("tries again after a backend could not be opened", async () => {
  let tries = 0;
  const workspaces = new Workspaces(async (_, id) => {
    if (++tries === 1) throw new Error("no route to host");
    return backend([], id, { remote: true, busy: false });
  }, plainRedactor);
  await expect(workspaces.backend("c", "/")).rejects.toThrow("no route");
  expect((await workspaces.backend("c", "/")).name).toBe("c");
  await workspaces.close();
});
