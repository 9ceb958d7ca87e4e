// Names the process that runs a job, so that other processes can check whether it is alive.
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { isAlive } from "../../lib/process/is-alive.ts";

export interface Owners {
  /** `host:pid:token`: unique for this process. */
  readonly self: string;
  /** `unknown` for a process on another machine. */
  lives(owner: string): "yes" | "no" | "unknown";
}

export function processOwner(): Owners {
  const host = hostname().replaceAll(":", "_");
  const self = `${host}:${process.pid}:${randomBytes(6).toString("hex")}`;
  return {
    self,
    lives: (owner) => {
      const [ownerHost, pid] = owner.split(":");
      if (owner === self) return "yes";
      if (ownerHost !== host) return "unknown";
      // The same pid with another token was an earlier process, for example before a container restart.
      if (Number(pid) === process.pid) return "no";
      return isAlive(Number(pid)) ? "yes" : "no";
    },
  };
}
