// `gateway_state.json`: the gateway's status for programs that read the file of v0.14.
import { join } from "node:path";
import { atomicWrite } from "../../lib/atomic-write.ts";

interface GatewayStatus {
  readonly state?: string | undefined;
  readonly platforms?: readonly { readonly name: string; readonly state: string; readonly reason: string | null }[];
  readonly activeTurns?: number | undefined;
}

/** v0.14's names for the platform states. */
const STATES: { readonly [state: string]: string } = {
  ok: "connected",
  degraded: "connected",
  red: "retrying",
  stopped: "disconnected",
};

export async function writeState(homePath: string, status: GatewayStatus): Promise<void> {
  const { state = "stopped", platforms = [], activeTurns = 0 } = status;
  const now = new Date().toISOString();
  const entries = platforms.map((each) => [
    each.name,
    { state: STATES[each.state] ?? each.state, error_code: null, error_message: each.reason, updated_at: now },
  ]);
  const file = {
    gateway_state: state,
    exit_reason: null,
    restart_requested: false,
    active_agents: activeTurns,
    platforms: Object.fromEntries(entries) as object,
    pid: process.pid,
    updated_at: now,
  };
  await atomicWrite(join(homePath, "gateway_state.json"), `${JSON.stringify(file, null, 2)}\n`, 0o600);
}
