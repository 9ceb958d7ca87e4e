// What each chat platform needs and what is missing, without connecting to anything.
import { openApp } from "./compose.ts";
import type { Home } from "./home.ts";
import { settingsOf } from "./platform-settings.ts";
import { platformEntries } from "./platforms.ts";

export interface PlatformState {
  readonly name: string;
  readonly label: string;
  readonly ready: boolean;
  /** What is missing; empty when it is ready. */
  readonly reason: string;
  readonly settings: readonly {
    readonly env: string;
    readonly description: string;
    readonly required: boolean;
    readonly set: boolean;
  }[];
}

export async function platformStates(home: Home): Promise<readonly PlatformState[]> {
  const app = await openApp(home);
  try {
    const platforms = await Promise.all(platformEntries.map((entry) => entry.load(app, () => ({}))));
    return platforms.map((platform) => {
      const context = settingsOf(app, platform.name, platform.settings);
      const enabled = platform.enabled(context);
      return {
        name: platform.name,
        label: platform.label,
        ready: enabled.ok,
        reason: enabled.ok ? "" : enabled.reason,
        settings: platform.settings.map(({ env, description, required }) => ({
          env,
          description,
          required: required ?? false,
          set: context.setting(env) !== undefined,
        })),
      };
    });
  } finally {
    await app.close();
  }
}
