// The gate policy of a default configuration.
import type { GatePolicy } from "../../src/security/gate/gate-options.ts";

export const DEFAULT_GATE_POLICY: GatePolicy = {
  mode: "manual",
  yolo: false,
  approvalTimeoutMs: 60_000,
  sudoPassword: false,
};
