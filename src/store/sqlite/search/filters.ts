// The conditions of a search other than its words, over `m` (messages) and `s` (sessions).
import type { SearchOptions } from "../../../core/store/session.ts";
import type { SqlValue } from "../connection/driver.ts";
import { marks } from "../context.ts";
import { TENANT } from "../sessions.ts";

export interface Filters {
  /** ` AND …`, or empty. */
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** Undefined when nothing can pass: an empty list of allowed sources or sessions. */
export function buildFilters(options: SearchOptions): Filters | undefined {
  const { sourceFilter, excludeSources, roleFilter, userId, sessionIds } = options;
  if (sourceFilter?.length === 0 || sessionIds?.length === 0) return undefined;
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  if (sourceFilter) {
    conditions.push(`s.source IN (${marks(sourceFilter)})`);
    values.push(...sourceFilter);
  }
  if (excludeSources && excludeSources.length > 0) {
    conditions.push(`s.source NOT IN (${marks(excludeSources)})`);
    values.push(...excludeSources);
  }
  if (roleFilter && roleFilter.length > 0) {
    conditions.push(`m.role IN (${marks(roleFilter)})`);
    values.push(...roleFilter);
  }
  if (userId !== undefined) {
    conditions.push(`${TENANT} = ?`);
    values.push(userId);
  }
  if (sessionIds) {
    conditions.push("m.session_id IN (SELECT value FROM json_each(?))");
    values.push(JSON.stringify(sessionIds));
  }
  return { sql: conditions.map((condition) => ` AND ${condition}`).join(""), values };
}
