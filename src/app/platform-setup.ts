// The platforms of a home for commands of the terminal: their state, a trial sign-in, and the deliverer.
import type { Home } from "../core/home.ts";
import type { Deliverer } from "../core/job.ts";
import type { Platform } from "../core/platform.ts";
import { readPlatformSettings } from "../core/platform-settings.ts";
import * as setup from "../delivery/api/platform-setup.ts";
import type { App } from "./app.ts";
import { openApp } from "./compose.ts";
import { openDeliverer } from "./open-deliverer.ts";
import { allPlatforms } from "./platforms.ts";

async function withApp<T>(home: Home, work: (app: App) => Promise<T>): Promise<T> {
  const app = await openApp(home);
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}

function withPlatforms<T>(home: Home, work: (platforms: readonly Platform[], app: App) => Promise<T> | T): Promise<T> {
  return withApp(home, async (app) => work(await allPlatforms(app), app));
}

/** Opens the program, runs `work` with its deliverer and closes the program. */
export function withDeliverer<T>(home: Home, work: (deliverer: Deliverer) => T | Promise<T>): Promise<T> {
  return withApp(home, async (app) => work(await openDeliverer(app)));
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
