// Files with keys and Hermes' own data, through the real tools of a conversation.
import { existsSync, linkSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openApp } from "../src/app/compose.ts";
import { grantPermission } from "../src/container/permission-file.ts";
import { openHome } from "../src/home/api.ts";
import { absentHuman } from "../src/index.ts";
import { isProtected } from "../src/security/protected-files.ts";
import { CANARY, GuardedHome } from "./kit/guarded-home-fixture.ts";

let environment: GuardedHome;
beforeEach(async () => {
  environment = await GuardedHome.open();
});
afterEach(() => environment.close());

const search = (args: object) => ({ name: "search_files", args });

it("search_files returns no lines, names or counts of secret files, and says so", async () => {
  linkSync(join(environment.user, ".ssh/deploy_key"), join(environment.project, "notes.txt"));
  symlinkSync(join(environment.user, ".ssh"), join(environment.project, "docs"));
  environment.put("project/server.key", readFileSync(join(environment.user, ".ssh/id_rsa"), "utf8"));
  const talk = await environment.talk();
  const pattern = "CANARY|aws_secret";
  const results = await talk.turn(
    search({ pattern, path: environment.user }),
    search({ pattern, path: environment.user, output_mode: "files_only" }),
    search({ pattern, path: environment.user, output_mode: "count" }),
    search({ pattern, path: "." }),
    search({ pattern: "BEGIN", path: environment.user, context: 3 }),
    search({ pattern, path: join(environment.user, ".ssh") }),
    search({ pattern, path: "docs/" }),
  );
  await talk.close();
  // Searching in a folder of keys needs the user's approval.
  expect(results.filter((result) => result.includes('"status":"denied"'))).toHaveLength(2);
  for (const result of results) {
    expect(result).not.toContain(CANARY);
    if (result.includes('"status":"denied"')) continue;
    expect(result).not.toMatch(/id_rsa|deploy_key|credentials"/);
    expect(result).toMatch(/"protected_files_skipped":[1-9]/);
  }
});

it("a project's .env is hidden until the user allows it, and masked then", async () => {
  const closed = await environment.talk();
  for (const result of await closed.turn(
    { name: "read_file", args: { path: ".env" } },
    search({ pattern: "=", path: "." }),
  ))
    expect(result).not.toMatch(/hunter2|APP_SECRET=1|ab12cd34|DB_PASSWORD/);
  await closed.close();
  await grantPermission(environment.home, environment.project, {
    kind: "read",
    path: join(realpathSync(environment.project), ".env"),
  });
  const talk = await environment.talk();
  const results = await talk.turn(
    { name: "read_file", args: { path: ".env" } },
    search({ pattern: "=", path: "." }),
    search({ pattern: "PASSWORD", path: ".env" }),
  );
  await talk.close();
  for (const result of results) {
    expect(result).not.toMatch(/hunter2|APP_SECRET=1|ab12cd34/);
    expect(result).toContain("DB_PASSWORD=***");
  }
  expect(results[0]).toContain("PORT=3000");
});

it("@file attaches no secrets: no links, renamed keys or values of .env", async () => {
  linkSync(join(environment.user, ".ssh/deploy_key"), join(environment.project, "notes.txt"));
  environment.put("project/copy.txt", readFileSync(join(environment.user, ".ssh/id_rsa"), "utf8"));
  const env = { PATH: process.env.PATH, HOME: environment.user, HERMES_HOME: environment.home };
  const host = { env, cwd: environment.project, platform: process.platform, homedir: environment.user };
  const { home } = openHome([], host);
  const app = await openApp(home, {
    overrides: {
      model: { default: "m", provider: "custom", base_url: `${environment.llm.url}/v1`, context_length: 128_000 },
    },
  });
  const opened = await app.openConversation({ human: absentHuman, source: "cli" });
  const input = await app.prepareInput("@file:notes.txt @file:copy.txt @file:.env @file:README.md", opened);
  expect(input.text).not.toContain(CANARY);
  expect(input.text).not.toMatch(/hunter2|APP_SECRET=1/);
  expect(input.text).toContain("DB_PASSWORD=***");
  expect(input.text).toContain("hello project");
  expect(input.warnings).toHaveLength(2);
  await opened.conversation.close();
  await app.close();
  // The same guard checks attachments of messages.
  expect(await isProtected(home, join(environment.project, "notes.txt"))).toBe(true);
  expect(await isProtected(home, join(environment.project, "copy.txt"))).toBe(true);
  expect(await isProtected(home, join(environment.project, "README.md"))).toBe(false);
});

it("no file tool writes to Hermes' home", async () => {
  const talk = await environment.talk();
  const targets = [
    "memories/MEMORY.md",
    "SOUL.md",
    "webhook_subscriptions.json",
    "profiles/e/config.yaml",
    "logs/x.log",
  ];
  const results = await talk.turn(
    ...targets.map((path) => ({
      name: "write_file",
      args: { path: join(environment.home, path), content: "planted" },
    })),
    {
      name: "patch",
      args: { mode: "replace", path: join(environment.home, "SOUL.md"), old_string: "kind", new_string: "planted" },
    },
    {
      name: "patch",
      args: { mode: "patch", patch: "*** Begin Patch\n*** Delete File: ../.hermes/SOUL.md\n*** End Patch" },
    },
  );
  await talk.close();
  for (const result of results) expect(result).toContain("belongs to Hermes");
  expect(readFileSync(join(environment.home, "SOUL.md"), "utf8")).toBe("You are kind.\n");
  expect(readFileSync(join(environment.home, "memories/MEMORY.md"), "utf8")).toBe("Ada likes tea.\n");
  expect(existsSync(join(environment.home, "webhook_subscriptions.json"))).toBe(false);
});

it("a guest's tools cannot read the home", async () => {
  const talk = await environment.talk({ human: { ...absentHuman, guest: true } });
  const results = await talk.turn(
    { name: "read_file", args: { path: join(environment.home, "memories/MEMORY.md") } },
    search({ pattern: "tea", path: environment.home }),
    search({ pattern: "tea", path: environment.user }),
    search({ pattern: "MEMORY.md", path: environment.user, target: "files" }),
  );
  await talk.close();
  for (const result of results) expect(result).not.toMatch(/likes tea|"[^"]*MEMORY.md"\]/);
});
