// Checks that this process is inside the sandbox, before any attempt runs.
import { readFileSync } from "node:fs";

/** File systems that exist in memory only, or that hold no files of the machine. */
const IN_MEMORY = new Set(["tmpfs", "proc", "devpts", "mqueue"]);
const DEVICES = new Set(["null", "zero", "full", "random", "urandom", "tty", "console", "ptmx", "pts"]);

interface Mount {
  readonly point: string;
  readonly options: readonly string[];
  readonly type: string;
}

function mounts(): Mount[] {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").trim().split("\n");
  return lines.map((line) => {
    const [left = "", right = ""] = line.split(" - ");
    const fields = left.split(" ");
    return { point: fields[4] ?? "", options: (fields[5] ?? "").split(","), type: right.split(" ")[0] ?? "" };
  });
}

function isDevice(point: string): boolean {
  return point.startsWith("/dev/") && DEVICES.has(point.slice("/dev/".length));
}

/** The last mount on a point is the one that is seen. */
function typeAt(all: readonly Mount[], point: string): string | undefined {
  return all.findLast((mount) => mount.point === point)?.type;
}

/** The problem of the sandbox; undefined when everything that can be written to is in memory. */
export function isolationProblem(uid: number): string | undefined {
  if (uid === 0) return "the program would run as root";
  if (readFileSync("/proc/1/comm", "utf8").trim() !== "bwrap") return "the processes of the machine are visible";
  const all = mounts();
  const open = all.find(
    (mount) => !mount.options.includes("ro") && !IN_MEMORY.has(mount.type) && !isDevice(mount.point),
  );
  if (open) return `${open.point} (${open.type}) can be written to`;
  if (!all.some((mount) => mount.point === "/" && mount.options.includes("ro"))) return "the root is not read-only";
  const wanted = ["/home", "/tmp", "/etc", "/run", "/root", "/var/tmp"];
  const shared = wanted.find((point) => typeAt(all, point) !== "tmpfs");
  if (shared) return `${shared} is not the sandbox's own`;
  const devices = readFileSync("/proc/net/dev", "utf8").split("\n").slice(2);
  const names = devices.map((line) => line.split(":")[0]?.trim() ?? "").filter((name) => name !== "");
  const network = names.find(
    (name) => name !== "lo" && !/^(?:sit|tunl|ip6tnl|gre|erspan|ip_vti|ip6_vti|ip6gre)/.test(name),
  );
  if (network) return `the network device ${network} is visible`;
  return undefined;
}
