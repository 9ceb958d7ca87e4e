// Decisions about cloned projects, in runtime.db.
import type { ProjectDecision, ProjectDecisions } from "../../core/project-trust.ts";
import type { Database } from "../sqlite/connection/driver.ts";
import { retryLocked } from "./retry-locked.ts";

interface Row {
  readonly trusted: number;
  readonly decided_by: string;
}

/** `open` is called at the first use. */
export function createProjectDecisions(open: () => Database): ProjectDecisions {
  let opened: Database | undefined;
  const db = () => {
    opened ??= open();
    return opened;
  };
  return {
    find: async (folder, remote) => {
      const sql = "SELECT trusted, decided_by FROM project_trust WHERE folder = ? AND remote = ?";
      const row = await retryLocked(() => db().prepare<Row>(sql).get(folder, remote));
      if (!row) return undefined;
      return { trusted: row.trusted === 1, decidedBy: row.decided_by as ProjectDecision["decidedBy"] };
    },
    record: async (folder, remote, { trusted, decidedBy }) => {
      const sql =
        "INSERT OR REPLACE INTO project_trust(folder, remote, trusted, decided_by, at) VALUES (?, ?, ?, ?, ?)";
      await retryLocked(() =>
        db()
          .prepare(sql)
          .run(folder, remote, trusted ? 1 : 0, decidedBy, Date.now() / 1000),
      );
    },
  };
}
