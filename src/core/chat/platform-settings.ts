// The settings of a chat platform: the environment first, then its section of the configuration.
import type { Config } from "../config/config.ts";
import type { Home } from "../home.ts";
import type { Platform, PlatformContext } from "./platform.ts";

type Section = { readonly [key: string]: unknown };

export interface PlatformSettingsSource {
  readonly config: Config;
  readonly home: Pick<Home, "env">;
}

/** What a platform reads its settings from. */
export type PlatformSettings = Pick<PlatformContext, "setting" | "section">;

/** The platform's own section overrides `platforms.<name>`, which overrides its `extra`. */
function readSection(app: PlatformSettingsSource, platform: string): Section {
  const top = (app.config as unknown as { readonly [key: string]: unknown })[platform];
  const nested = (app.config.platforms as { readonly [key: string]: Section | undefined })[platform];
  const extra = nested?.extra as Section | undefined;
  const given = (section: unknown) =>
    Object.fromEntries(
      Object.entries((section as Section | undefined) ?? {}).filter(([, value]) => value !== undefined),
    );
  // `platforms.<name>.enabled` defaults to false, so only true has an effect there.
  const { enabled, ...shared } = given(nested);
  return { ...given(extra), ...shared, ...(enabled === true ? { enabled } : {}), ...given(top) };
}

function asText(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  return Array.isArray(value) ? value.join(",") : String(value);
}

export function readPlatformSettings(
  app: PlatformSettingsSource,
  platform: string,
  names: Platform["settings"],
): PlatformSettings {
  const section = readSection(app, platform);
  return {
    section,
    setting: (name) => {
      const own = asText(app.home.env[name]);
      if (own !== undefined) return own;
      const key = names.find((setting) => setting.env === name)?.key;
      return key === undefined ? undefined : asText(section[key]);
    },
  };
}
