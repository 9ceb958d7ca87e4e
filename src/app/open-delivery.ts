// Delivery by a program that is not the gateway: the locks of the gateway, the outbox and the deliverer.
import { join } from "node:path";
import { readPlatformSettings } from "../core/chat/platform-settings.ts";
import type { Home } from "../core/home.ts";
import type { Deliverer } from "../core/job.ts";
import { createDeliverer } from "../delivery/deliverer.ts";
import { stopSeconds } from "../gateway-control/api/gateway-process.ts";
import type { GatewayLocks } from "../gateway-control/api/locks.ts";
import { privateDatabase } from "../home/home-layout.ts";
import type { App } from "./app.ts";
import { allPlatforms } from "./platforms.ts";

export function openGatewayLocks(home: Home): GatewayLocks {
  const take = async (name: string) => {
    const { takeKernelLock } = await import("../store/runtime/leases.ts");
    privateDatabase(home, `${name}.db`);
    return takeKernelLock(join(home.path, name));
  };
  return { gateway: () => take("gateway.lock"), outbox: () => take("outbox.lock") };
}

/** By the settings of the home. */
export async function loadStopSeconds(home: Home): Promise<number> {
  const { openSettings } = await import("../config/api.ts");
  return stopSeconds((await openSettings(home).load()).config);
}

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
