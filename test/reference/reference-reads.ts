// Every query that both programs support, and the answer of each.
import type { SessionSummary } from "../../src/core/store/session.ts";
import type { FullStore } from "../../src/store/full-store.ts";
import type { ReferenceCall } from "./reference.ts";
import { IDS } from "./reference-operations.ts";

type Row = { readonly [column: string]: unknown };

export interface Question extends ReferenceCall {
  ask(store: FullStore): Promise<unknown>;
  /** Makes the reference's answer comparable where ours says more or less on purpose. */
  readonly fair?: (theirs: unknown, ours: unknown) => unknown;
}

/** Lists omit the long prompt. A preview that SQL cut at a NUL is complete here. */
function fairList(theirs: unknown, ours: unknown): unknown {
  const mine = ours as readonly SessionSummary[];
  return (theirs as readonly Row[]).map(({ system_prompt: _, ...row }, index) => ({
    ...row,
    preview: row.preview === "" ? mine[index]?.preview : row.preview,
  }));
}

function listing(args: object, options: object): Question {
  return {
    call: "db.list_sessions_rich",
    args: { ...args },
    ask: (store) => store.listSessions(options),
    fair: fairList,
  };
}

function ofSession(id: string): Question[] {
  const args = { session_id: id };
  return [
    { call: "db.get_session", args, ask: (store) => store.getSession(id) },
    { call: "db.get_messages", args, ask: (store) => store.getMessages(id) },
    { call: "db.get_messages_as_conversation", args, ask: (store) => store.getConversation(id) },
    {
      call: "db.get_messages_as_conversation",
      args: { ...args, include_ancestors: true },
      ask: (store) => store.getConversation(id, { includeAncestors: true }),
    },
    { call: "db.export_session", args, ask: (store) => store.exportSession(id) },
    { call: "db.get_compression_tip", args, ask: (store) => store.getCompressionTip(id) },
    { call: "db.resolve_resume_session_id", args, ask: (store) => store.resolveResumeSessionId(id) },
    { call: "db.resolve_session_id", args: { session_id_or_prefix: id }, ask: (store) => store.resolveSessionId(id) },
    { call: "db.get_handoff_state", args, ask: (store) => store.getHandoffState(id) },
    { call: "db.message_count", args, ask: (store) => store.messageCount(id) },
    {
      call: "db.is_telegram_session_linked_to_topic",
      args,
      ask: (store) => store.isTelegramSessionLinkedToTopic(id),
    },
  ];
}

const TITLES = ["Plan", "Plan #2", "plan", "100% #3", "a b", "none"];

function ofTitle(text: string): Question[] {
  return [
    { call: "db.resolve_session_by_title", args: { title: text }, ask: (store) => store.resolveSessionByTitle(text) },
    {
      call: "db.get_next_title_in_lineage",
      args: { base_title: text },
      ask: (store) => store.getNextTitleInLineage(text),
    },
  ];
}

export const QUESTIONS: readonly Question[] = [
  ...[...IDS, "nobody"].flatMap(ofSession),
  ...TITLES.flatMap(ofTitle),
  listing({}, {}),
  listing({ order_by_last_active: true }, { orderByLastActive: true }),
  listing({ include_children: true, limit: 3, offset: 1 }, { includeChildren: true, limit: 3, offset: 1 }),
  listing({ project_compression_tips: false }, { projectCompressionTips: false }),
  listing({ source: "telegram" }, { source: "telegram" }),
  listing({ exclude_sources: ["tool", "cli"] }, { excludeSources: ["tool", "cli"] }),
  { call: "db.session_count", args: {}, ask: (store) => store.sessionCount() },
  { call: "db.get_meta", args: { key: "k" }, ask: (store) => store.getMeta("k") },
  {
    call: "db.get_telegram_topic_binding",
    args: { chat_id: "c", thread_id: "1" },
    ask: (store) => store.getTelegramTopicBinding("c", "1"),
  },
];

/** Words of the random histories. */
export const QUERIES: readonly string[] = [
  "deploy",
  "docker-compose",
  '"docker-compose file"',
  "depl*",
  "deploy OR wrong",
  "terminal",
  "my_app.config.ts",
  "备份数据库",
  "备份",
  "サーバー",
  "shown",
  "ß",
  "emoji",
];
