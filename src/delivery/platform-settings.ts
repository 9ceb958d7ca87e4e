// The settings of a chat platform: the environment first, then its section of the configuration.

import type { App } from "../app/app.ts";
import type { Platform, PlatformContext } from "../core/platform.ts";

type Section = { readonly [key: string]: unknown };
type Settled = Pick<App, "config" | "home">;

/** The platform's own section, above `platforms.<name>`, above its `extra`. */
function sectionOf(app: Settled, platform: string): Section {
  const top = (app.config as unknown as { readonly [key: string]: unknown })[platform];
  const nested = (app.config.platforms as { readonly [key: string]: Section | undefined })[platform];
  const extra = nested?.extra as Section | undefined;
  const given = (section: unknown) =>
    Object.fromEntries(
      Object.entries((section as Section | undefined) ?? {}).filter(([, value]) => value !== undefined),
    );
  // `platforms.<name>.enabled` is false wherever it was left out, so there it can only switch a platform on.
  const { enabled, ...shared } = given(nested);
  return { ...given(extra), ...shared, ...(enabled === true ? { enabled } : {}), ...given(top) };
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  return Array.isArray(value) ? value.join(",") : String(value);
}

export function readPlatformSettings(
  app: Settled,
  platform: string,
  names: Platform["settings"],
): Pick<PlatformContext, "setting" | "section"> {
  const section = sectionOf(app, platform);
  return {
    section,
    setting: (name) => {
      const own = textOf(app.home.env[name]);
      if (own !== undefined) return own;
      const key = names.find((setting) => setting.env === name)?.key;
      return key === undefined ? undefined : textOf(section[key]);
    },
  };
}
