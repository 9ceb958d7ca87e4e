// Finds the ports on which programs in a container listen.
import { readFile } from "node:fs/promises";

export interface OpenPort {
  readonly port: number;
  readonly host: "127.0.0.1" | "::1";
}

const LISTENING = "0A";

/** The listening ports of one table of `/proc/PID/net`. */
export function parsePorts(table: string): OpenPort[] {
  const ports: OpenPort[] = [];
  for (const line of table.split("\n").slice(1)) {
    const [, local = "", , state] = line.trim().split(/\s+/);
    const [address = "", port = ""] = local.split(":");
    if (state !== LISTENING) continue;
    const onlyVersion6 = address.length === 32 && /^0{24}01000000$/.test(address);
    // Addresses of other hosts in the container's network begin with 127.64 to 127.127.
    if (address.length === 8 && address !== "00000000" && address !== "0100007F") continue;
    ports.push({ port: Number.parseInt(port, 16), host: onlyVersion6 ? "::1" : "127.0.0.1" });
  }
  return ports;
}

/** Empty when the process has ended. */
export async function readPorts(pid: number): Promise<OpenPort[]> {
  const read = (name: string) => readFile(`/proc/${pid}/net/${name}`, "utf8").catch(() => "");
  const tables = await Promise.all([read("tcp"), read("tcp6")]);
  return tables.flatMap(parsePorts);
}
