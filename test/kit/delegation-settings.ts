// Settings of delegation for tests.
import type { DelegationSettings } from "../../src/agent/delegation/delegate-tool.ts";

export const DELEGATION_SETTINGS: DelegationSettings = {
  maxConcurrentChildren: 3,
  maxSpawnDepth: 1,
  orchestratorEnabled: true,
  childTimeoutMs: 600_000,
  maxIterations: 50,
  heartbeatMs: 30_000,
};
