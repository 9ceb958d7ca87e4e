// The deliverer outside the gateway: it knows which platforms are set up, and leaves the sending to the gateway.
import type { Deliverer } from "../core/job.ts";
import type { Platform } from "../core/platform.ts";
import type { App } from "./app.ts";
import { homeChannel, PLATFORM_NAMES } from "./deliver.ts";
import { settingsOf } from "./platform-settings.ts";
import { platformEntries } from "./platforms.ts";

/** These take requests and have no chats to send to. */
const NO_CHATS = ["api_server", "webhook"];

export async function configuredDeliverer(app: App): Promise<Deliverer> {
  const chats = platformEntries.filter((entry) => !NO_CHATS.includes(entry.name));
  const loaded = await Promise.all(chats.map((entry) => entry.load(app, () => ({}))));
  const platforms = new Map<string, Platform>(loaded.map((platform) => [platform.name, platform]));
  const problem = (name: string): string | undefined => {
    const platform = platforms.get(name);
    const state = platform?.enabled(settingsOf(app, name, platform.settings));
    if (state?.ok) return undefined;
    return `${name} is not set up here${state ? `: ${state.reason}` : ""} (hermes gateway setup)`;
  };
  return {
    known: () => [...new Set([...PLATFORM_NAMES, ...platforms.keys()])],
    problem,
    home: (name) => homeChannel(app.home.env, name),
    resolve: async (_name, reference) => reference,
    send: async ({ platform }) =>
      problem(platform) ?? `${platform} is reached through the gateway, and this run was made outside of it`,
  };
}
