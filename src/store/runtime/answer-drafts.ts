// Answers that are being streamed, one row per session. Written without a sync: they need to survive a killed process only.
import type { AnswerDrafts } from "../../core/store/answer-draft.ts";
import { isLocked } from "../../lib/sqlite-error.ts";
import type { Database } from "../sqlite/connection/driver.ts";

const SAVE = `INSERT INTO answer_drafts (session_id, pid, text, updated_at) VALUES (?, ?, ?, ?)
  ON CONFLICT (session_id) DO UPDATE SET pid = excluded.pid, text = excluded.text, updated_at = excluded.updated_at`;

interface DraftRow {
  readonly pid: number;
  readonly text: string;
}

function isRunning(pid: number): boolean {
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user exists, but may not be signalled.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** `open` is called at first use. A draft that cannot be written now is written with the next piece of the answer. */
export function createAnswerDrafts(open: () => Database): AnswerDrafts {
  let opened: Database | undefined;
  const db = () => {
    if (!opened) {
      opened = open();
      opened.pragma("synchronous = OFF");
    }
    return opened;
  };
  const unlessLocked = <T>(work: () => T, otherwise: T): T => {
    try {
      return work();
    } catch (error) {
      if (isLocked(error)) return otherwise;
      throw error;
    }
  };
  const saved = new Set<string>();
  return {
    save: ({ sessionId, text }) => {
      saved.add(sessionId);
      unlessLocked(() => void db().prepare(SAVE).run(sessionId, process.pid, text, Date.now()), undefined);
    },
    remove: (sessionId) => {
      if (!saved.has(sessionId)) return;
      const removed = unlessLocked(() => {
        db().prepare("DELETE FROM answer_drafts WHERE session_id = ?").run(sessionId);
        return true;
      }, false);
      if (removed) saved.delete(sessionId);
    },
    takeAbandoned: (sessionId) =>
      unlessLocked(() => {
        const row = db().prepare<DraftRow>("SELECT pid, text FROM answer_drafts WHERE session_id = ?").get(sessionId);
        if (!row || isRunning(row.pid)) return null;
        db().prepare("DELETE FROM answer_drafts WHERE session_id = ?").run(sessionId);
        return row.text;
      }, null),
  };
}
