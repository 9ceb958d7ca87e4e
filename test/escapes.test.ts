// Attempts to leave the container from inside, as an ordinary user: mounts, other processes, sockets, devices, links.
import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundle } from "./kit/bundle.ts";
import { type ContainerFixture, containerFixture, containerProblem } from "./kit/container-fixture.ts";

const problem = await containerProblem();
const NOBODY = 65_534;
const asRoot = process.getuid?.() === 0;

/** Each prints ESCAPED when it succeeds, or leaves a file outside. */
const ATTEMPTS: Readonly<Record<string, string>> = {
  "remounts the system writable": "mount -o remount,rw / && echo ESCAPED",
  "mounts a file system": "mount -t tmpfs t /mnt && echo ESCAPED; mount --bind / /mnt && echo ESCAPED",
  "unmounts what hides the home": 'umount -l "$HOME" && echo ESCAPED; umount /run && echo ESCAPED',
  "makes a user namespace": "unshare -Ur true && echo ESCAPED; unshare -Urm true && echo ESCAPED",
  "enters another namespace": "nsenter -t 1 -m true && echo ESCAPED; nsenter -t $PPID -a true && echo ESCAPED",
  "changes its root": "chroot / true && echo ESCAPED; pivot_root / /mnt && echo ESCAPED",
  "nests a container": "bwrap --bind / / touch @OUT@/nested && echo ESCAPED",
  "traces its parent":
    'python3 -c \'import ctypes;print("ESCAPED" if ctypes.CDLL(None).ptrace(16,@PID@,0,0)==0 else "")\'; gdb -p @PID@ -batch 2>/dev/null && echo ESCAPED',
  "reads another process":
    "cat /proc/@PID@/environ && echo ESCAPED; cat /proc/@PID@/cmdline && echo ESCAPED; ls /proc/@PID@ && echo ESCAPED",
  "goes through the root of a process":
    "cat /proc/1/root@KEY@ && echo ESCAPED; cat /proc/self/root@KEY@ && echo ESCAPED",
  "signals a process outside": "kill -0 @PID@ && echo ESCAPED; kill -9 -1; true",
  "changes kernel settings":
    "echo x > /proc/sys/kernel/hostname && echo ESCAPED; echo /tmp/x > /proc/sys/kernel/core_pattern && echo ESCAPED; echo b > /proc/sysrq-trigger && echo ESCAPED",
  "changes the host name": "hostname escaped; true",
  "uses a unix socket":
    "python3 -c \"import socket;s=socket.socket(socket.AF_UNIX);s.connect('@SOCKET@');print('ESCAPED')\"",
  "uses an abstract socket":
    "python3 -c \"import socket;s=socket.socket(socket.AF_UNIX);s.connect('\\0hermes-escape-@PID@');print('ESCAPED')\"",
  "uses the session bus": "ls /run/user /run/dbus /var/run/docker.sock 2>/dev/null | grep . && echo ESCAPED",
  "uses a local port":
    "python3 -c \"import socket;s=socket.create_connection(('127.0.0.1',@PORT@),2);print('ESCAPED')\"",
  "uses a local port by another name":
    "for a in localhost 127.0.0.2 0.0.0.0 ::1 $(hostname); do timeout 5 python3 -c \"import socket,sys;socket.create_connection((sys.argv[1],@PORT@),2);print('ESCAPED')\" $a; done",
  "makes a device":
    "mknod d b 8 0 && echo ESCAPED; cat /dev/sda /dev/vda /dev/mem 2>/dev/null | head -c1 | grep -q . && echo ESCAPED",
  "uses setuid programs":
    "su -c true root </dev/null && echo ESCAPED; sudo -n true && echo ESCAPED; cp /bin/bash s; chmod 4755 s; ./s -pc 'id -u' | grep -qx 0 && [ \"$(id -u)\" != 0 ] && echo ESCAPED",
  "gains capabilities":
    "grep CapEff /proc/self/status | grep -qv 0000000000000000 && echo ESCAPED; setcap cap_sys_admin+ep s 2>/dev/null && echo ESCAPED",
  "follows a link out": "ln -s @OUT@ out; echo x > out/link && echo ESCAPED; cat link-to-key && echo ESCAPED",
  "renames the workspace away": 'mv "$PWD" ../moved && echo ESCAPED; mv .git other && echo ESCAPED',
  "swaps a folder for a link":
    "mkdir -p sub; for i in 1 2 3 4 5 6 7 8 9; do rm -rf sub; ln -s @OUT@ sub; echo x > sub/raced 2>/dev/null; rm sub; mkdir sub; done",
  "uses descriptors that were left open":
    "for f in /proc/self/fd/*; do case $(readlink $f) in @ROOT@/home/.hermes*|@ROOT@/home/.ssh*|*.db) echo ESCAPED;; esac; done",
  "types into the terminal":
    "python3 -c \"import fcntl,termios;[fcntl.ioctl(0,termios.TIOCSTI,c) for c in 'id'];print('ESCAPED')\"",
  "fills the process table": "bash -c ':(){ :|:& };:' 2>/dev/null & sleep 0.3; kill -9 -1",
  "writes to hidden places":
    'for p in "$HOME/.bashrc" "$HOME/.profile" "$HOME/.ssh/authorized_keys" "$HOME/.hermes/config.yaml" "$HOME/.config/autostart/x" @OUT@/x /etc/cron.d/x /usr/local/bin/x; do mkdir -p "$(dirname "$p")" 2>/dev/null; echo evil >> "$p"; done 2>/dev/null; true',
};

describe.skipIf(problem)("attempts to leave the container", { timeout: 120_000 }, () => {
  let fixture: ContainerFixture;
  let servers: Server[];
  let outside: string;
  let results: Record<string, { exitCode: number; output: string }>;

  function listen(server: Server, where: string | number): Promise<void> {
    servers.push(server);
    return new Promise((resolve) => {
      if (typeof where === "string") server.listen(where, resolve);
      else server.listen(where, "127.0.0.1", resolve);
    });
  }

  beforeAll(async () => {
    fixture = containerFixture();
    servers = [];
    outside = join(fixture.root, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "canary"), "whole");
    symlinkSync(join(fixture.home, ".ssh", "id_rsa"), join(fixture.project, "link-to-key"));
    const socket = join(fixture.home, "Documents", "service.sock");
    await listen(
      createServer((client) => client.end("x")),
      socket,
    );
    chmodSync(socket, 0o777);
    await listen(
      createServer((client) => client.end("x")),
      `\0hermes-escape-${process.pid}`,
    );
    await listen(
      createServer((client) => client.end("x")),
      0,
    );
    const address = servers.at(-1)?.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const fill = (text: string) =>
      text
        .replaceAll("@OUT@", outside)
        .replaceAll("@PID@", String(process.pid))
        .replaceAll("@KEY@", join(fixture.home, ".ssh", "id_rsa"))
        .replaceAll("@SOCKET@", socket)
        .replaceAll("@PORT@", String(port))
        .replaceAll("@ROOT@", fixture.root);
    const commands = Object.fromEntries(Object.entries(ATTEMPTS).map(([name, text]) => [name, fill(text)]));
    results = await runInside(fixture, commands);
  }, 120_000);
  afterAll(() => {
    for (const server of servers ?? []) server.close();
    fixture?.remove();
  });

  it("runs as an ordinary user", () => {
    expect(results.identity?.output.trim()).toBe(String(asRoot ? NOBODY : process.getuid?.()));
  });

  for (const name of Object.keys(ATTEMPTS))
    it(`fails: ${name}`, () => {
      expect(results[name], "the attempt was made").toBeDefined();
      expect(results[name]?.output).not.toContain("ESCAPED");
      expect(results[name]?.output).not.toContain("private key");
    });

  it("leaves everything outside as it was", () => {
    expect(readFileSync(join(outside, "canary"), "utf8")).toBe("whole");
    for (const name of ["link", "nested", "raced", "x"]) expect(existsSync(join(outside, name)), name).toBe(false);
    expect(readFileSync(join(fixture.home, ".bashrc"), "utf8")).toBe("# mine\n");
    expect(readFileSync(join(fixture.hermes, "config.yaml"), "utf8")).toBe("approvals: {}\n");
    for (const path of [".profile", ".ssh/authorized_keys", ".config/autostart/x"])
      expect(existsSync(join(fixture.home, path)), path).toBe(false);
    for (const path of ["/etc/cron.d/x", "/usr/local/bin/x"]) expect(existsSync(path), path).toBe(false);
    expect(readFileSync("/proc/sys/kernel/hostname", "utf8")).not.toContain("escaped");
  });
});

/** The commands one after the other in one container, opened by a process of the ordinary user. */
async function runInside(fixture: ContainerFixture, commands: { readonly [name: string]: string }) {
  // The user may not be allowed to read the checkout.
  const program = join(fixture.root, "run.mjs");
  copyFileSync(await bundle("test/children/contained-run.ts"), program);
  chmodSync(fixture.root, 0o755);
  if (asRoot) giveAway(fixture.root);
  const identity = asRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(process.execPath, [program], {
    ...identity,
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: fixture.home },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(
    JSON.stringify({ home: fixture.home, project: fixture.project, commands: { identity: "id -u", ...commands } }),
  );
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  await new Promise((resolve) => child.once("close", resolve));
  return JSON.parse(text) as Record<string, { exitCode: number; output: string }>;
}

function giveAway(folder: string): void {
  chownSync(folder, NOBODY, NOBODY);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (lstatSync(path).isDirectory()) giveAway(path);
    else lchownSync(path, NOBODY, NOBODY);
  }
}
