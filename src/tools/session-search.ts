// The session_search tool: lists, searches and reads past conversations, from the index and without a model.

import { type Content, contentText, type JsonObject } from "../core/message.ts";
import type { MessageRow, SearchHit, SessionIndex, SessionLog } from "../core/store/session.ts";
import { tenantOf } from "../core/store/tenant.ts";
import type { TrustLog } from "../core/store/trust-log.ts";
import { Type } from "../core/tool/schema.ts";
import { defineTool, jsonResult, type Tool, type ToolResult, toolError } from "../core/tool/tool.ts";
import { lessTrusted, OWN, type Provenance } from "../core/trust.ts";

const HIDDEN_SOURCES = ["tool"];
const HITS = 50;
const SNIPPETS_PER_SESSION = 3;
const PAGE = 20;
const SCROLL_CHARS = 1_500;

const parameters = Type.Object({
  query: Type.Optional(
    Type.String({
      description: 'Words to find; "exact phrase", OR, NOT and prefix* work. Leave out to browse recent conversations',
    }),
  ),
  session_id: Type.Optional(Type.String({ description: "Scroll through this conversation instead" })),
  offset: Type.Optional(Type.Integer({ minimum: 0, description: "With session_id: skip this many messages" })),
  role_filter: Type.Optional(Type.String({ description: "Only these roles, comma separated" })),
  limit: Type.Optional(Type.Integer({ description: "How many conversations, 1 to 5 (3)" })),
});

interface Scope {
  readonly store: SessionLog & SessionIndex;
  /** Only conversations of this user, when several share a home. */
  readonly userId?: string | undefined;
  /** The trust of stored conversations; without it, what is found is untrusted. */
  readonly trust?: Pick<TrustLog, "read"> | undefined;
}

/** A quoted conversation is as untrusted as the least trusted text in it. */
async function withTrust(scope: Scope, answer: JsonObject, ids: readonly string[]): Promise<ToolResult> {
  const found = scope.trust
    ? await Promise.all(ids.map((id) => scope.trust?.read(id) ?? OWN))
    : [{ trust: "untrusted", origin: "an earlier conversation" } as const];
  const { trust, origin } = found.reduce<Provenance>(lessTrusted, OWN);
  return { ...jsonResult(answer), trust, origin: origin && `an earlier conversation, which read ${origin}` };
}

function resultIds(answer: JsonObject): string[] {
  const results = Array.isArray(answer.results) ? answer.results : [];
  return results.flatMap((each) => {
    const { session_id: id } = each as { readonly session_id?: unknown };
    return typeof id === "string" ? [id] : [];
  });
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
}

/** The sessions of the current conversation, which are left out of results. */
async function currentLineage(store: SessionLog & SessionIndex, sessionId: string): Promise<Set<string>> {
  return new Set([sessionId, ...(await store.ancestors(sessionId))]);
}

async function recent(scope: Scope, limit: number, current: Set<string>): Promise<JsonObject> {
  const rows = await scope.store.listSessions({
    excludeSources: HIDDEN_SOURCES,
    limit: limit + 5,
    orderByLastActive: true,
    userId: scope.userId || undefined,
  });
  const results = rows
    .filter((row) => !current.has(row.id) && !current.has(row._lineage_root_id ?? ""))
    .slice(0, limit)
    .map((row) => ({
      session_id: row.id,
      title: row.title,
      source: row.source,
      started_at: isoTime(row.started_at),
      last_active: isoTime(row.last_active),
      message_count: row.message_count,
      preview: row.preview,
    }));
  return {
    success: true,
    mode: "recent",
    results,
    count: results.length,
    message: `The ${results.length} latest conversations. Pass session_id to read one.`,
  };
}

async function findRoot(store: SessionLog & SessionIndex, id: string, roots: Map<string, string>): Promise<string> {
  const known = roots.get(id);
  if (known) return known;
  const root = (await store.ancestors(id))[0] ?? id;
  roots.set(id, root);
  return root;
}

async function search(
  scope: Scope,
  query: string,
  options: { limit: number; roles?: readonly string[] | undefined; current: Set<string> },
): Promise<JsonObject> {
  const answer = await scope.store.searchMessages(query, {
    excludeSources: HIDDEN_SOURCES,
    limit: HITS,
    roleFilter: options.roles,
    userId: scope.userId || undefined,
  });
  const roots = new Map<string, string>();
  const groups = new Map<string, SearchHit[]>();
  for (const hit of answer.hits) {
    const root = await findRoot(scope.store, hit.session_id, roots);
    if (options.current.has(root) || options.current.has(hit.session_id)) continue;
    const group = groups.get(root) ?? [];
    if (group.length === 0 && groups.size >= options.limit) continue;
    group.push(hit);
    groups.set(root, group);
  }
  const results: JsonObject[] = [];
  for (const [root, hits] of groups) {
    const session = await scope.store.getSession(root);
    const first = hits[0];
    results.push({
      session_id: first?.session_id ?? root,
      title: session?.title ?? null,
      when: isoTime(session?.started_at ?? first?.session_started ?? 0),
      source: session?.source ?? first?.source ?? "unknown",
      model: session?.model ?? first?.model ?? null,
      matches: hits.slice(0, SNIPPETS_PER_SESSION).map((hit) => ({
        role: hit.role,
        snippet: hit.snippet,
        before: hit.context[0]?.content ?? "",
        after: hit.context.at(-1)?.content ?? "",
      })),
      more_matches: Math.max(0, hits.length - SNIPPETS_PER_SESSION),
    });
  }
  return {
    success: true,
    query,
    results,
    count: results.length,
    sessions_searched: groups.size,
    ...(answer.notice ? { notice: answer.notice } : {}),
  };
}

function formatRow(row: MessageRow): JsonObject {
  const text =
    typeof row.content === "string"
      ? row.content
      : Array.isArray(row.content)
        ? contentText(row.content as Content)
        : "";
  const calls = (row.tool_calls ?? []).map(
    (call) => (call as { function?: { name?: string | undefined } }).function?.name ?? "?",
  );
  return {
    role: row.role,
    ...(row.tool_name ? { tool: row.tool_name } : {}),
    ...(calls.length > 0 ? { called: calls } : {}),
    text:
      text.length > SCROLL_CHARS
        ? `${text.slice(0, SCROLL_CHARS)} … [${text.length - SCROLL_CHARS} more characters]`
        : text,
  };
}

async function scroll(scope: Scope, wanted: string, offset: number): Promise<JsonObject | null> {
  const id = await scope.store.resolveSessionId(wanted);
  const session = id ? await scope.store.getSession(id) : null;
  if (!id || !session || (scope.userId && tenantOf(session) !== scope.userId)) return null;
  const rows = await scope.store.getMessages(id, { limit: offset + PAGE });
  const page = rows.slice(offset);
  const next = offset + page.length;
  return {
    success: true,
    mode: "scroll",
    session_id: id,
    title: session.title,
    started_at: isoTime(session.started_at),
    total_messages: session.message_count,
    offset,
    messages: page.map(formatRow),
    ...(next < session.message_count ? { next_offset: next } : {}),
  };
}

export function sessionSearchTool(scope: Scope): Tool {
  return defineTool({
    name: "session_search",
    searchable: "always",
    toolset: "session_search",
    housekeeping: true,
    minWindow: "medium",
    description:
      "Search past conversations with this user: no arguments lists the latest, query finds words in all of them, session_id reads one. Use it when they refer to something said before.",
    parameters,
    overlap: "parallel",
    repeatable: true,
    preview: (args) => args.query ?? args.session_id ?? "recent",
    run: async (args, context) => {
      if (args.session_id) {
        const page = await scroll(scope, args.session_id, args.offset ?? 0);
        return page
          ? withTrust(scope, page, [String(page.session_id)])
          : toolError(`no conversation "${args.session_id}"`, {
              hint: "Call session_search without arguments for the latest ids",
            });
      }
      const limit = Math.min(5, Math.max(1, args.limit ?? 3));
      const current = await currentLineage(scope.store, context.sessionId);
      if (!args.query?.trim()) {
        const latest = await recent(scope, limit, current);
        return withTrust(scope, latest, resultIds(latest));
      }
      const roles = args.role_filter
        ?.split(",")
        .map((role) => role.trim())
        .filter(Boolean);
      const found = await search(scope, args.query, { limit, current, roles: roles?.length ? roles : undefined });
      return withTrust(scope, found, resultIds(found));
    },
  });
}
