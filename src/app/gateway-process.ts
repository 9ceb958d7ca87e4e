// The gateway process of a home: its locks, and how long it may take to stop.
import { join } from "node:path";
import type { Home } from "../core/home.ts";
import { stopSeconds } from "../gateway-control/api/gateway-process.ts";
import type { GatewayLocks } from "../gateway-control/api/locks.ts";
import { privateDatabase } from "../home/home-layout.ts";

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
