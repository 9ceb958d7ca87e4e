// config.yaml is read again while the program runs: new conversations use it, and a broken one is reported and not used.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ApiFixture, apiFixture } from "./kit/api-fixture.ts";
import { text } from "./servers/fake-llm.ts";

let api: ApiFixture;
let path: string;

beforeAll(async () => {
  api = await apiFixture({ always: () => text("Yes.") });
  path = join(api.home.path, "config.yaml");
});
afterAll(() => api.close());

async function ask(): Promise<void> {
  await api.client.chat.completions.create({ model: "x", messages: [{ role: "user", content: `At ${Date.now()}` }] });
}

it("uses a changed model, tool selection and limits in the next conversation", async () => {
  await ask();
  expect(api.turns().at(-1)?.body.model).toBe("test-model");
  const before = api.turns().at(-1)?.tools.length ?? 0;
  const changed = readFileSync(path, "utf8").replace("test-model", "other-model");
  writeFileSync(path, `${changed}platform_toolsets:\n  api_server: [todo]\n`);
  await ask();
  expect(api.turns().at(-1)?.body.model).toBe("other-model");
  expect(api.turns().at(-1)?.tools.length).toBeLessThan(before);
});

it("keeps the old settings when the file is broken, and says why", async () => {
  const good = readFileSync(path, "utf8");
  writeFileSync(path, "model: [unclosed\n");
  expect((await api.app.refreshSettings()).problem).toMatch(/config\.yaml was changed but cannot be used/);
  await ask();
  expect(api.turns().at(-1)?.body.model).toBe("other-model");
  writeFileSync(path, good.replace("other-model", "third-model"));
  expect(await api.app.refreshSettings()).toMatchObject({ changed: true });
  await ask();
  expect(api.turns().at(-1)?.body.model).toBe("third-model");
});
