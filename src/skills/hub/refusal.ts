// The error for a refused skill. Unlike other errors it is written to the audit log.
import { UserError } from "../../core/failure.ts";

export class HubRefusal extends UserError {
  constructor(reason: string, hint = "Nothing was installed.") {
    super(reason, { hint });
    this.name = "HubRefusal";
  }
}

export const MIB = 1024 * 1024;

/** Size limits of a fetched skill, after unpacking. */
export const LIMITS = {
  download: 12 * MIB,
  file: 2 * MIB,
  total: 8 * MIB,
  files: 300,
  depth: 8,
  path: 200,
  /** Ratio of unpacked to packed size; small archives may exceed it. */
  ratio: 100,
  ratioFloor: MIB,
  requestMs: 20_000,
  fetchMs: 120_000,
} as const;
