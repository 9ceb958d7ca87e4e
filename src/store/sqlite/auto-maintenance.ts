// Whether the automatic clean-up is due: `state_meta` has the time of the last run.
import type { StoreContext } from "./context.ts";
import { getMeta, setMeta } from "./meta.ts";

const MARKER = "last_auto_prune";

/** An unreadable marker counts as "never ran". */
export function isMaintenanceDue(context: StoreContext, minIntervalHours: number): boolean {
  const last = Number.parseFloat(getMeta(context, MARKER) ?? "");
  return !(context.now() - last < minIntervalHours * 3600);
}

export function markMaintenance(context: StoreContext): void {
  setMeta(context, MARKER, String(context.now()));
}
