// `/skills` in a real terminal: the user finds, reads, installs and removes a skill in the conversation.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { HOSTILE, HubFixture, skill } from "./kit/hub-fixture.ts";
import { openTerminal, type TestTerminal } from "./kit/terminal.ts";
import { type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

let fixture: HubFixture;
let llm: FakeLlm;
let terminal: TestTerminal | undefined;

beforeEach(async () => {
  fixture = await HubFixture.open();
  fixture.hub.repos.set("someone/tools", {
    files: {
      "skills/good-notes/SKILL.md": skill("good-notes"),
      "skills/bad-notes/SKILL.md": skill("bad-notes", HOSTILE),
    },
  });
  llm = await startFakeLlm({ script: () => text("Noted.") });
  const model = { default: "test-model", provider: "custom", base_url: `${llm.url}/v1`, context_length: 128_000 };
  writeFileSync(join(fixture.home, "config.yaml"), JSON.stringify({ model }));
});

afterEach(async () => {
  terminal?.kill();
  terminal = undefined;
  await llm.close();
  await fixture.close();
});

it("lists, searches, shows, asks before installing, refuses a malicious skill, and uninstalls", async () => {
  terminal = openTerminal(["--plain"], { home: fixture.home, env: fixture.env, columns: 100, rows: 50 });
  const screen = terminal;
  await screen.shows("❯");
  screen.type("/skills list\r");
  await screen.shows("/code-review");
  await screen.shows("Find more: /skills search WORDS");
  screen.type("/skills search neat\r");
  await screen.shows("official/writing/neat (official)");
  screen.type("/skills inspect someone/tools/good-notes\r");
  await screen.shows("Write the notes down");
  expect(existsSync(join(fixture.skills, "good-notes"))).toBe(false);

  screen.type("/skills install someone/tools/bad-notes\r");
  await screen.shows("bad-notes is not installed");
  expect(existsSync(join(fixture.skills, "bad-notes"))).toBe(false);

  screen.type("/skills install someone/tools/good-notes\r");
  await screen.shows("install the skill good-notes");
  screen.type("d\r");
  await screen.shows("good-notes was not installed.");
  expect(existsSync(join(fixture.skills, "good-notes"))).toBe(false);
  screen.type("/skills install someone/tools/good-notes\r");
  await screen.shows(/install the skill good-notes[\s\S]*install the skill good-notes/);
  screen.type("o\r");
  await screen.shows("Use it with /good-notes");
  expect(existsSync(join(fixture.skills, "good-notes/SKILL.md"))).toBe(true);

  screen.type("/good-notes now\r");
  await screen.shows("Noted.");
  expect(llm.requests[0]?.messages.at(-1)?.text).toContain("Write the notes down");
  expect(llm.requests[0]?.tools.filter((name) => /install|hub/.test(name))).toEqual([]);

  screen.type("/skills disable good-notes\r");
  await screen.shows("good-notes is disabled from the next start");
  expect(readFileSync(join(fixture.home, "config.yaml"), "utf8")).toContain("good-notes");
  screen.type("/skills uninstall good-notes\r");
  await screen.shows("remove the skill good-notes");
  screen.type("o\r");
  await screen.shows("good-notes was removed.");
  expect(existsSync(join(fixture.skills, "good-notes"))).toBe(false);
  screen.type("/skills fetch x\r");
  await screen.shows("Unknown: /skills fetch");
}, 60_000);

it("reports a missing name and an empty result", async () => {
  mkdirSync(fixture.skills, { recursive: true });
  writeFileSync(join(fixture.home, ".no-bundled-skills"), "");
  terminal = openTerminal(["--plain"], { home: fixture.home, env: fixture.env });
  await terminal.shows("❯");
  terminal.type("/skills\r");
  await terminal.shows("No skills are installed.");
  terminal.type("/skills install\r");
  await terminal.shows("needs a name");
}, 60_000);
