// Small named values: `state_meta`.
import type { StoreContext } from "./context.ts";

export function getMeta({ db }: StoreContext, key: string): string | null {
  return db.prepare<{ value: string | null }>("SELECT value FROM state_meta WHERE key = ?").get(key)?.value ?? null;
}

export function setMeta({ db }: StoreContext, key: string, value: string): void {
  db.prepare(
    "INSERT INTO state_meta (key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
  ).run(key, value);
}
