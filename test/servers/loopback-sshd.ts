// A real sshd on loopback for tests: its own host key, port and authorised key; the setup of the machine is not used.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../kit/free-port.ts";
import { tempDir } from "../kit/temp-dir.ts";

const SSHD = "/usr/sbin/sshd";

export interface LoopbackSshd {
  readonly port: number;
  readonly user: string;
  readonly keyFile: string;
  readonly folder: string;
  stop(): Promise<void>;
}

/** Why there can be no server here; undefined when there can. */
export function whyNoSshd(): string | undefined {
  if (!existsSync(SSHD)) return "sshd is not installed";
  if (process.getuid?.() !== 0) return "sshd needs root here";
  return undefined;
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (open) return;
    await sleep(50);
  }
  throw new Error("sshd did not start");
}

export async function startSshd(): Promise<LoopbackSshd> {
  const folder = tempDir("hermes-sshd-");
  for (const name of ["host", "client"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, name)]);
  execFileSync("cp", [join(folder, "client.pub"), join(folder, "authorized_keys")]);
  // The place where sshd drops its privileges; packages make it at boot.
  mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const port = await freePort();
  writeFileSync(
    join(folder, "config"),
    [
      `Port ${port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${join(folder, "host")}`,
      `AuthorizedKeysFile ${join(folder, "authorized_keys")}`,
      `PidFile ${join(folder, "pid")}`,
      "UsePAM no",
      "StrictModes no",
      "PasswordAuthentication no",
      "PermitRootLogin yes",
      "MaxStartups 100",
      "MaxSessions 100",
    ].join("\n"),
  );
  const server = spawn(SSHD, ["-D", "-e", "-f", join(folder, "config")], { stdio: ["ignore", "ignore", "ignore"] });
  const gone = new Promise<void>((resolve) => server.once("exit", () => resolve()));
  await listening(port);
  return {
    port,
    user: userInfo().username,
    keyFile: join(folder, "client"),
    folder,
    stop: async () => {
      server.kill("SIGTERM");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
