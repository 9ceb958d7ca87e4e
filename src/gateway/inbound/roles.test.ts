// Owner, member and guest over the Telegram test server: approvals, workspaces, limits.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { answered, closeGateways, openGatewayFixture, texts } from "../../../test/kit/gateway-fixture.ts";
import { calls, text } from "../../../test/servers/fake-llm.ts";
import { RIGHTS } from "../../core/chat/role.ts";

afterEach(closeGateways);

const CONFIG = "gateway:\n  owners: [telegram:1]\n  members: [telegram:2]\n";
const env = { TELEGRAM_ALLOWED_USERS: "1,2,3,4" };

/** The model makes the call that the user's message spells out as JSON, then answers with its result. */
const obey = (request: { messages: readonly { role?: string; text?: string }[]; tools: readonly unknown[] }) => {
  const last = request.messages.at(-1);
  if (request.tools.length === 0) return text("Title");
  if (last?.role === "user" && last.text?.startsWith("{")) return calls([JSON.parse(last.text) as never]);
  return text(`Result: ${String(last?.text).slice(0, 3_000)}`);
};

it("each right is decided for each role", () => {
  expect(RIGHTS).toEqual({
    owner: { configures: true, approvesOwn: true, usesHome: true, usesAccounts: true },
    member: { configures: false, approvesOwn: true, usesHome: false, usesAccounts: false },
    guest: { configures: false, approvesOwn: false, usesHome: false, usesAccounts: false },
  });
});

it("two guests and an owner: nobody reads, changes or approves what is another's", async () => {
  const w = await openGatewayFixture({ script: obey as never, config: CONFIG, env });
  writeFileSync(join(w.home.path, "SOUL.md"), "OWNER-SOUL\n");
  const say = async (user: number, message: object | string) => {
    const before = texts(w, user).length;
    w.telegram.say(user, typeof message === "string" ? message : JSON.stringify(message));
    await w.telegram.until(() =>
      texts(w, user)
        .slice(before)
        .some((line) => /Result:|limit|Only the owner|Usage/.test(line)),
    );
    return texts(w, user).slice(before).join("\n");
  };
  const write = (content: string) => ({ name: "write_file", args: { path: "note.txt", content } });
  await say(3, write("secret of three"));
  await say(4, write("secret of four"));
  const folders = readdirSync(join(w.home.path, "workspaces")).sort();
  expect(folders).toEqual(["telegram-user-3", "telegram-user-4"]);
  const other = join(w.home.path, "workspaces/telegram-user-3/note.txt");
  expect(readFileSync(other, "utf8")).toBe("secret of three");
  for (const attempt of [
    { name: "read_file", args: { path: other } },
    { name: "read_file", args: { path: "../telegram-user-3/note.txt" } },
    { name: "search_files", args: { pattern: "secret", path: ".." } },
    { name: "read_file", args: { path: join(w.home.path, "SOUL.md") } },
    { name: "read_file", args: { path: join(w.home.path, "config.yaml") } },
    { name: "terminal", args: { command: `cat ${other}` } },
    { name: "terminal", args: { command: `sqlite3 ${w.home.path}/state.db .dump` } },
    { name: "terminal", args: { command: "hermes config set gateway.owners telegram:4" } },
    {
      name: "write_file",
      args: { path: join(w.home.path, "config.yaml"), content: "gateway:\n  owners: telegram:4\n" },
    },
    { name: "session_search", args: { query: "secret three" } },
  ]) {
    w.telegram.say(4, JSON.stringify(attempt));
    const seen = texts(w, 4).length;
    // A question of a guest goes to the owner, who denies it.
    await w.telegram.until(() => texts(w, 4).length > seen);
    if (texts(w, 4).at(-1)?.includes("the owner was asked")) w.telegram.say(1, "/deny all");
    await w.telegram.until(() =>
      texts(w, 4)
        .slice(seen)
        .some((line) => line.startsWith("Result:")),
    );
    const result = texts(w, 4).slice(seen).join("\n");
    expect(result, JSON.stringify(attempt)).not.toMatch(/secret of three|OWNER-SOUL/);
  }
  expect(readFileSync(join(w.home.path, "config.yaml"), "utf8")).not.toContain("telegram:4");
  expect(existsSync(join(w.home.path, "SOUL.md"))).toBe(true);
  expect(await say(4, "/yolo")).toContain("Only the owner");
  expect(await say(4, "/review")).toContain("Only the owner");
}, 90_000);

it("a guest who reaches the limit is told so; the owner has none", async () => {
  const config = `${CONFIG}users:\n  guest_turns_per_hour: 1\n`;
  const w = await openGatewayFixture({ script: () => text("Hello."), config, env });
  for (const user of [3, 1]) {
    w.telegram.say(user, "one");
    await answered(w, user, 1);
    w.telegram.say(user, "two");
    await answered(w, user, 2);
  }
  expect(texts(w, 3)[1]).toMatch(/limit of 1 messages per hour. Try again in \d+ min/);
  expect(texts(w, 1)).toEqual(["Hello.", "Hello."]);
});
