// The deliverer of a program that is not the gateway: its platforms, its outbox and the running gateway.
import type { Deliverer } from "../core/job.ts";
import { readPlatformSettings } from "../core/platform-settings.ts";
import { createDeliverer } from "../delivery/deliverer.ts";
import { privateDatabase } from "../home/home-layout.ts";
import type { App } from "./app.ts";
import { openGatewayLocks } from "./gateway-process.ts";
import { allPlatforms } from "./platforms.ts";

export async function openDeliverer(app: App): Promise<Deliverer> {
  const { home, store } = app;
  return createDeliverer({
    homePath: home.path,
    env: home.env,
    store,
    platforms: await allPlatforms(app),
    settings: (platform, names) => readPlatformSettings(app, platform, names),
    redact: (text) => app.redact(text),
    askGateway: async (request, waitMs) => {
      const { askGateway } = await import("../gateway-control/api/control-socket.ts");
      return askGateway(home, `deliver ${JSON.stringify(request)}`, waitMs);
    },
    lockOutbox: () => openGatewayLocks(home).outbox(),
    openMailbox: async () => {
      const { openMailbox } = await import("../store/open-mailbox.ts");
      return (await openMailbox(privateDatabase(home, "runtime.db"), "in-process")).mailbox;
    },
  });
}
