// The platforms of a home for `hermes gateway setup`: their state, and a trial sign-in.
import type { Home } from "../core/home.ts";
import type { Platform } from "../core/platform.ts";
import { readPlatformSettings } from "../core/platform-settings.ts";
import * as setup from "../delivery/api/platform-setup.ts";
import type { App } from "./app.ts";
import { openApp } from "./compose.ts";
import { allPlatforms } from "./platforms.ts";

async function withPlatforms<T>(
  home: Home,
  work: (platforms: readonly Platform[], app: App) => Promise<T> | T,
): Promise<T> {
  const app = await openApp(home);
  try {
    return await work(await allPlatforms(app), app);
  } finally {
    await app.close();
  }
}

export function platformStates(home: Home): Promise<readonly setup.PlatformState[]> {
  return withPlatforms(home, (platforms, app) =>
    platforms.map((platform) =>
      setup.describePlatform(platform, readPlatformSettings(app, platform.name, platform.settings)),
    ),
  );
}

export function checkPlatform(home: Home, name: string): Promise<setup.PlatformCheck> {
  return withPlatforms(home, async (platforms, app) => {
    const platform = platforms.find((each) => each.name === name);
    if (!platform) return { ok: false, reason: `there is no platform "${name}"` };
    const settings = readPlatformSettings(app, name, platform.settings);
    const check = await setup.checkPlatform(platform, settings, home.path);
    return check.ok ? check : { ok: false, reason: app.redact(check.reason) };
  });
}
