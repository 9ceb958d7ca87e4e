// Hermes Agent v0.14 reads goals, branches and sessions from which something was taken back, and we read its goals.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SessionGoals } from "../src/agent/goals/session-goals.ts";
import { SqliteSessionStore } from "../src/store/sqlite-session-store.ts";
import { hangingSide } from "./kit/scripted.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { findReference } from "./reference/reference.ts";

const found = findReference();
if ("missing" in found) process.stderr.write(`the test of goals is skipped: ${found.missing}\n`);

const READ = `
import json, os, sys
from pathlib import Path
from hermes_state import SessionDB
from hermes_cli.goals import GoalManager
db = SessionDB(Path(os.environ["HERMES_HOME"]) / "state.db")
manager = GoalManager("s1")
before = {"goal": manager.state.goal, "status": manager.state.status, "subgoals": manager.state.subgoals, "used": manager.state.turns_used}
manager.pause("by v0.14")
rows = [[row["id"], row["end_reason"]] for row in db.list_sessions_rich()]
print(json.dumps({"goal": before, "messages": len(db.get_messages("s1")), "branch": len(db.get_messages("s2")), "rows": sorted(rows)}))
`;

it.skipIf("missing" in found)("goals, branches and undone messages are shared with v0.14", async () => {
  if ("missing" in found) return;
  const home = tempDir("hermes-goals-");
  const open = () => SqliteSessionStore.open({ path: join(home, "state.db") });
  const goalsOf = (store: SqliteSessionStore) =>
    new SessionGoals({ store, side: hangingSide, maxTurns: 20, verdictTokens: 100, sessionId: () => "s1" });
  const ours = await open();
  await ours.createSession({ id: "s1", source: "cli" });
  const exchange = (text: string) => [
    { role: "user", content: text },
    { role: "assistant", content: `re: ${text}` },
  ];
  await ours.appendMessages("s1", [...exchange("one"), ...exchange("two")]);
  await ours.undoMessages("s1", 2);
  const goals = goalsOf(ours);
  await goals.set("ship it");
  await goals.setSubgoals(["it has tests"]);
  await goals.afterTurn({ end: "done", text: "half of it" }, new AbortController().signal);
  const messages = await ours.getConversation("s1");
  expect(messages).toHaveLength(2);
  await ours.splitSession({ fromId: "s1", reason: "branched", session: { id: "s2", source: "cli" }, messages });
  await ours.close();

  const answer = execFileSync(found.python, ["-c", READ], { env: { ...process.env, HERMES_HOME: home } });
  expect(JSON.parse(String(answer))).toEqual({
    goal: { goal: "ship it", status: "active", subgoals: ["it has tests"], used: 1 },
    messages: 4,
    branch: 2,
    rows: [
      ["s1", "branched"],
      ["s2", null],
    ],
  });

  const again = await open();
  expect(await goalsOf(again).get()).toMatchObject({ text: "ship it", status: "paused", pausedReason: "by v0.14" });
  expect(await again.getConversation("s1")).toHaveLength(2);
  await again.close();
  rmSync(home, { recursive: true, force: true });
});
