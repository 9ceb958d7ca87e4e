// Slash commands in a real terminal, and how sessions end there.
import { afterEach, beforeEach, expect, it } from "vitest";
import { openDatabase } from "../src/store/sqlite/connection/driver.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { openTerminal, type TestTerminal } from "./kit/terminal.ts";
import { drip, type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

let home: TempHome;
let llm: FakeLlm;
let terminal: TestTerminal | undefined;
let verdicts = 0;

beforeEach(async () => {
  home = tempHome();
  llm = await startFakeLlm({
    script: (request) => {
      const asked = request.messages.at(-1)?.text ?? "";
      if (asked.startsWith("slowly")) return drip("one two three four five six seven eight", { everyMs: 150 });
      if (request.system?.startsWith("You check whether"))
        return text(`{"done": ${++verdicts > 1}, "reason": "verdict ${verdicts}"}`);
      return text(request.tools.length === 0 ? "" : `re: ${asked}`);
    },
  });
  home.useModel(llm, "approvals:\n  destructive_slash_confirm: false\n");
});

afterEach(async () => {
  terminal?.kill();
  await llm.close();
  home.remove();
});

interface Row {
  readonly id: string;
  readonly title: string | null;
  readonly end_reason: string | null;
  readonly parent_session_id: string | null;
}

function sessions(): readonly Row[] {
  const db = openDatabase(`${home.path}/state.db`);
  try {
    return db.prepare<Row>("SELECT id, title, end_reason, parent_session_id FROM sessions ORDER BY started_at").all();
  } finally {
    db.close();
  }
}

it("takes back, sends again, branches, starts and resumes sessions, and each of them ends with its reason", async () => {
  terminal = openTerminal([], { home: home.path, columns: 100, rows: 40 });
  const screen = terminal;
  await screen.shows("❯");
  screen.type("/title Harbour\r");
  await screen.shows('This session is now "Harbour"');
  screen.type("first\r");
  await screen.shows("re: first");
  screen.type("wrong\r");
  await screen.shows("re: wrong");
  screen.type("/undo\r");
  await screen.shows("Taken back");
  screen.type("/retry\r");
  await screen.shows(/re: first[\s\S]*re: first/);
  screen.type("/branch\r");
  await screen.shows(/session \d{8}_/);
  screen.type("third\r");
  await screen.shows("re: third");
  expect(llm.requests.findLast(({ tools }) => tools.length > 0)?.messages.map((message) => message.text)).not.toContain(
    "wrong",
  );
  screen.type("/new Ships\r");
  await screen.shows(/session \d{8}_[\s\S]*session \d{8}_/);
  screen.type("fourth\r");
  await screen.shows("re: fourth");
  screen.type("/resume Harbour #2\r");
  await screen.shows(/session \d{8}_[\s\S]*session \d{8}_[\s\S]*session \d{8}_/);
  screen.type("fifth\r");
  await screen.shows("re: fifth");
  screen.type("exit\r");
  expect(await screen.exited).toBe(0);
  const [first, branch, ships] = sessions();
  expect(first).toMatchObject({ title: "Harbour", end_reason: "branched", parent_session_id: null });
  expect(branch).toMatchObject({ title: "Harbour #2", end_reason: "cli_close", parent_session_id: first?.id });
  expect(ships).toMatchObject({ title: "Ships", end_reason: "resumed_other", parent_session_id: null });
}, 60_000);

it("a command that changes the conversation waits for the turn instead of stopping it", async () => {
  terminal = openTerminal([], { home: home.path, columns: 100, rows: 40 });
  const screen = terminal;
  await screen.shows("❯");
  screen.type("slowly\r");
  await screen.shows("one");
  screen.type("/undo\r");
  await screen.shows("queued: it runs after this turn");
  await screen.shows("Taken back (2 messages): slowly");
  expect(screen.screen()).toContain("seven eight");
  screen.type("/personality pirate\r");
  await screen.shows("Personality pirate");
  screen.type("ahoy\r");
  await screen.shows("re: ahoy");
  expect(llm.requests.findLast(({ tools }) => tools.length > 0)?.system ?? "").toContain("pirate");
  screen.type("/goal count the boats\r");
  await screen.shows("Goal not reached yet (turn 1 of 20): verdict 1");
  await screen.shows("Goal reached: verdict 2");
  screen.type("quit\r");
  expect(await screen.exited).toBe(0);
}, 60_000);
