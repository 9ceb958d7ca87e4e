// Proposals of lasting changes, in runtime.db.
import type { Proposal, ProposalState, ProposalStore } from "../../core/store/proposals.ts";
import type { ProposedCall } from "../../core/tool/tool.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import { type Database, immediate } from "../sqlite/connection/driver.ts";
import { retryLocked } from "./retry-locked.ts";

interface Row {
  readonly id: number;
  readonly what: string;
  readonly summary: string;
  readonly origin: string;
  readonly tool: string;
  readonly args: string;
  readonly session_id: string;
  readonly user_id: string | null;
  readonly source: string;
  readonly chat: string | null;
  readonly workspace: string;
  readonly state: ProposalState;
  readonly result: string | null;
  readonly created_at: number;
  readonly decided_at: number | null;
}

const INSERT = `INSERT INTO proposals(what, summary, origin, tool, args, session_id, user_id, source, chat, workspace, state,
  created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?)`;
const SAME = "SELECT id FROM proposals WHERE state = 'open' AND tool = ? AND args = ? AND user_id IS ?";

function toProposal(row: Row): Proposal {
  const args = parseJson(row.args);
  const chat = row.chat === null ? undefined : parseJson(row.chat);
  return {
    id: row.id,
    what: row.what,
    summary: row.summary,
    origin: row.origin,
    tool: row.tool,
    args: isRecord(args) ? (args as Proposal["args"]) : {},
    sessionId: row.session_id,
    userId: row.user_id ?? undefined,
    source: row.source,
    chat: isRecord(chat) ? (chat as unknown as Proposal["chat"]) : undefined,
    workspace: row.workspace,
    state: row.state,
    result: row.result ?? undefined,
    createdAt: row.created_at,
    decidedAt: row.decided_at ?? undefined,
  };
}

/** `open` is called at the first use. */
export function createProposalStore(open: () => Database): ProposalStore {
  let opened: Database | undefined;
  const db = () => {
    opened ??= open();
    return opened;
  };
  const now = () => Date.now() / 1000;
  const add = (call: ProposedCall, { source, chat }: Pick<Proposal, "source" | "chat">) => {
    const args = JSON.stringify(call.args);
    const same = db()
      .prepare<{ id: number }>(SAME)
      .get(call.tool, args, call.userId ?? null);
    if (same) return same.id;
    const { what, summary, origin, tool, sessionId, userId, workspace } = call;
    const place = [userId ?? null, source, chat ? JSON.stringify(chat) : null, workspace] as const;
    const row = [what, summary, origin, tool, args, sessionId, ...place, now()] as const;
    return Number(
      db()
        .prepare(INSERT)
        .run(...row).lastInsertRowid,
    );
  };
  const update = (sql: string, ...values: (string | number)[]) =>
    retryLocked(
      () =>
        Number(
          db()
            .prepare(sql)
            .run(...values).changes,
        ) > 0,
    );
  return {
    add: (call, place) => retryLocked(() => immediate(db(), () => add(call, place))),
    list: async ({ open: onlyOpen = false } = {}) => {
      const where = onlyOpen ? "WHERE state IN ('open', 'failed')" : "";
      const rows = await retryLocked(() => db().prepare<Row>(`SELECT * FROM proposals ${where} ORDER BY id`).all());
      return rows.map(toProposal);
    },
    find: async (id) => {
      const row = await retryLocked(() => db().prepare<Row>("SELECT * FROM proposals WHERE id = ?").get(id));
      return row && toProposal(row);
    },
    decide: (id, state) =>
      update(
        "UPDATE proposals SET state = ?, decided_at = ?, result = NULL WHERE id = ? AND state IN ('open', 'failed')",
        state,
        now(),
        id,
      ),
    fail: async (id, reason) => {
      await update("UPDATE proposals SET state = 'failed', result = ? WHERE id = ?", reason, id);
    },
    finish: async (id, result) => {
      await update("UPDATE proposals SET result = ? WHERE id = ?", result, id);
    },
  };
}
