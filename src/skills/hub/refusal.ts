// A skill that is not let in, and why. Unlike other trouble it is written to the audit log.
import { UserError } from "../../core/failure.ts";

export class HubRefusal extends UserError {
  constructor(reason: string, hint = "Nothing was installed.") {
    super(reason, { hint });
    this.name = "HubRefusal";
  }
}

export const MIB = 1024 * 1024;

/** How much a skill from outside may weigh, counted after unpacking. */
export const LIMITS = {
  download: 12 * MIB,
  file: 2 * MIB,
  total: 8 * MIB,
  files: 300,
  depth: 8,
  path: 200,
  /** Unpacked to packed size; small archives may exceed it. */
  ratio: 100,
  ratioFloor: MIB,
  requestMs: 20_000,
  fetchMs: 120_000,
} as const;
