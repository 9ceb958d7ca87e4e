// The tenant of a session: whose memory and search it belongs to, where several users share a home.
import { isRecord } from "../../lib/json/is-record.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import type { JsonObject } from "../message.ts";
import type { SessionRow } from "./session.ts";

/** The key in `model_config`. Null for the owner's own sessions. */
export const TENANT_KEY = "hermes_tenant";

/** The model configuration with the tenant. Sessions without a platform user keep the tenant in `user_id`. */
export function withTenant(modelConfig: JsonObject | undefined, tenant: string | null): JsonObject {
  return { ...modelConfig, [TENANT_KEY]: tenant };
}

/** Undefined for the owner's own sessions. Rows without the key, and those of v0.14, have the tenant in `user_id`. */
export function tenantOf(row: Pick<SessionRow, "user_id" | "model_config">): string | undefined {
  const config = row.model_config === null ? undefined : parseJson(row.model_config);
  if (isRecord(config) && Object.hasOwn(config, TENANT_KEY)) {
    const tenant = config[TENANT_KEY];
    return typeof tenant === "string" ? tenant : undefined;
  }
  return row.user_id ?? undefined;
}
