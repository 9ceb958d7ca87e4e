// Totals for `hermes sessions stats` and usage by model.
import { statSync } from "node:fs";
import type { ModelUsageRow, StoreStats } from "../../core/store/session.ts";
import type { StoreContext } from "./context.ts";
import { messageCount } from "./messages.ts";
import { sessionCount } from "./sessions.ts";

function fileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

export function stats(context: StoreContext, indexLayout: "inline" | "compact"): StoreStats {
  const { db } = context;
  const sources = db
    .prepare<{ source: string; n: number }>(
      "SELECT source, count(*) AS n FROM sessions GROUP BY source ORDER BY n DESC",
    )
    .all();
  return {
    sessions: sessionCount(context),
    messages: messageCount(context),
    bySource: Object.fromEntries(sources.map(({ source, n }) => [source, n])),
    fileBytes: fileSize(db.path),
    walBytes: fileSize(`${db.path}-wal`),
    indexLayout,
    byModel: db
      .prepare<ModelUsageRow>(
        `SELECT model, count(*) AS session_count, COALESCE(SUM(input_tokens), 0) AS total_input,
           COALESCE(SUM(output_tokens), 0) AS total_output, SUM(estimated_cost_usd) AS total_cost
         FROM sessions WHERE model IS NOT NULL GROUP BY model ORDER BY total_cost DESC, model`,
      )
      .all(),
    largestByTokens: db
      .prepare<StoreStats["largestByTokens"][number]>(
        `SELECT id, title, model, COALESCE(input_tokens, 0) + COALESCE(output_tokens, 0) AS total_tokens,
           estimated_cost_usd
         FROM sessions ORDER BY total_tokens DESC, id LIMIT 10`,
      )
      .all(),
  };
}
