// Every chat platform of the product: one line each, its code imported only when it is set up.
import type { Platform } from "../core/platform.ts";

export interface PlatformEntry {
  readonly name: string;
  load(): Promise<Platform>;
}

export const platformEntries: readonly PlatformEntry[] = [
  { name: "telegram", load: async () => (await import("../platforms/telegram/telegram.ts")).telegramPlatform },
];
