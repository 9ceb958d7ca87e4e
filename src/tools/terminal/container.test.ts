import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tempFolder } from "../../../test/kit/tool-context.ts";
import { ContainerChannel, type ContainerOptions, findEngine } from "./container.ts";
import { OutputCapture } from "./output-capture.ts";
import { RemoteBackend } from "./remote-shell.ts";
import { SharedChannel } from "./shared-channel.ts";

let folder: ReturnType<typeof tempFolder>;
let bin: string;
let log: string;

/** A fake docker: logs its arguments, and runs commands of `exec` on this machine. */
function fakeEngine(name: string, options: { answers?: boolean; info?: string; starts?: boolean } = {}): void {
  const { answers = true, info = "{}", starts = true } = options;
  const script = `#!/bin/bash
printf '%s\\n' "$*" | head -1 >> ${log}
case $1 in
  version) ${answers ? "echo 28" : "echo 'Cannot connect to the daemon' >&2; exit 1"};;
  info) echo '${info}';;
  ps) echo "aaa 999999999"; echo "bbb ${process.pid}";;
  run) ${starts ? "echo id" : "echo 'no such image' >&2; exit 125"};;
  exec) shift 3; cd ${folder.path}; HOME=${folder.path} exec "$@";;
esac
`;
  writeFileSync(join(bin, name), script);
  chmodSync(join(bin, name), 0o755);
}

const calls = () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);
const runLine = () => calls().find((line) => line.startsWith("run ")) ?? "";

function registrar(options: Partial<ContainerOptions> = {}): ContainerChannel {
  return new ContainerChannel({
    image: "some/image:1",
    env: { PATH: `${bin}:/usr/bin:/bin` },
    cpus: 1,
    memoryMb: 5120,
    diskMb: 51_200,
    ...options,
  });
}

beforeEach(() => {
  folder = tempFolder();
  bin = join(folder.path, "bin");
  mkdirSync(bin);
  log = join(folder.path, "calls");
});
afterEach(() => folder.remove());

async function started(options: Partial<ContainerOptions> = {}): Promise<string> {
  const opened = registrar(options);
  await opened.open();
  await opened.close();
  return runLine();
}

describe("containers", () => {
  it("are started without privileges", async () => {
    fakeEngine("docker");
    const line = await started();
    expect(line).toMatch(/--name=hermes-[0-9a-f]{8} /);
    for (const flag of [
      "--detach",
      "--init",
      "--cap-drop=ALL",
      "--cap-add=DAC_OVERRIDE --cap-add=CHOWN --cap-add=FOWNER --cap-add=SETUID --cap-add=SETGID",
      "--security-opt=no-new-privileges",
      "--pids-limit=256",
      "--tmpfs=/tmp:rw,nosuid,size=512m",
      "--tmpfs=/var/tmp:rw,noexec,nosuid,size=256m",
      "--tmpfs=/run:rw,noexec,nosuid,size=64m",
      "--cpus=1",
      "--memory=5120m",
    ])
      expect(line).toContain(flag);
    expect(line).toMatch(/some\/image:1 sleep infinity$/);
    expect(line).not.toContain("--privileged");
    expect(line).not.toContain("--storage-opt");
    expect(line).not.toContain("docker.sock");
  });

  it("keep files only when configured, in folders of the home", async () => {
    fakeEngine("docker");
    expect(await started()).toContain(
      "--tmpfs=/workspace:rw,exec,size=10g --tmpfs=/home:rw,exec,size=1g --tmpfs=/root",
    );
    expect(calls().at(-1)).toMatch(/^rm --force --volumes hermes-/);
    writeFileSync(log, "");
    const persistentDir = join(folder.path, "sandboxes", "docker", "default");
    const line = await started({ persistentDir });
    expect(line).toContain(`--volume=${persistentDir}/home:/root --volume=${persistentDir}/workspace:/workspace`);
    expect(existsSync(join(persistentDir, "workspace"))).toBe(true);
    expect(calls().slice(-2)[0]).toMatch(/^stop --time=60 hermes-/);
  });

  it("use the configured mounts, network, user, quota and additional arguments", async () => {
    fakeEngine("docker", {
      info: '{"Driver":"overlay2","DriverStatus":[["Backing Filesystem","xfs"]]}',
    });
    const line = await started({
      workspace: "/srv/project",
      volumes: ["/data:/data:ro"],
      readOnly: [{ from: "/h/token.json", to: "/root/.hermes/token.json" }],
      network: false,
      user: { uid: 1000, gid: 1001 },
      extraArgs: ["--gpus=all"],
    });
    expect(line).toContain("--volume=/srv/project:/workspace");
    expect(line).toContain(
      "--volume=/h/token.json:/root/.hermes/token.json:ro --volume=/data:/data:ro --gpus=all some/",
    );
    expect(line).toContain("--network=none --user=1000:1001");
    expect(line).not.toContain("SETUID");
    expect(line).toContain("--storage-opt=size=51200m");
  });

  it("remove the containers of programs that were killed, and only those", async () => {
    fakeEngine("docker");
    await started();
    expect(calls()).toContain("rm --force aaa");
    expect(runLine()).toContain(`--label=hermes-agent.owner=${process.pid}`);
  });

  it("receive variables on standard input, never in arguments", async () => {
    fakeEngine("docker");
    const backend = new RemoteBackend({ channel: registrar(), cwd: "", variables: { API_TOKEN: "open sesame" } });
    const output = new OutputCapture({ limit: 1_000, spillPath: join(folder.path, "spill") });
    const signal = new AbortController().signal;
    await backend.run({ command: "cd /usr && export B=2", timeoutMs: 10_000, signal, output });
    await backend.run({ command: 'echo "$API_TOKEN $B $PWD [$VITEST]"', timeoutMs: 10_000, signal, output });
    expect((await output.finish()).text).toBe("open sesame 2 /usr []\n");
    await backend.close();
    expect(readFileSync(log, "utf8")).not.toContain("sesame");
  });

  it("use docker, else podman, or the configured program, and report why none can be used", async () => {
    const env = { PATH: bin };
    expect(findEngine(env)).toBeUndefined();
    expect(await registrar({ env }).available()).toMatchObject({ reason: "neither docker nor podman is installed" });
    fakeEngine("podman");
    expect(findEngine(env)).toBe(join(bin, "podman"));
    expect(registrar({ env }).name).toBe("podman");
    fakeEngine("docker", { answers: false });
    expect(findEngine(env)).toBe(join(bin, "docker"));
    expect(await registrar().available()).toMatchObject({
      ok: false,
      reason: expect.stringContaining("Cannot connect"),
    });
    expect(findEngine(env, "podman")).toBe(join(bin, "podman"));
    expect(await registrar({ env, binary: "/no/engine" }).available()).toMatchObject({
      reason: expect.stringContaining("HERMES_DOCKER_BINARY"),
    });
    fakeEngine("docker", { starts: false });
    await expect(registrar().open()).rejects.toThrow(/did not start: no such image/);
  });
});

it("shares one container between conversations until the last one closes it", async () => {
  fakeEngine("docker");
  const shared = new SharedChannel(registrar());
  const [first, second] = [shared.handle(), shared.handle()];
  await Promise.all([first.open(), second.open(), first.open()]);
  expect(calls().filter((line) => line.startsWith("run "))).toHaveLength(1);
  await first.close();
  await first.close();
  expect(calls().some((line) => line.startsWith("rm --force --volumes"))).toBe(false);
  await second.close();
  expect(calls().some((line) => line.startsWith("rm --force --volumes"))).toBe(true);
  await second.open();
  expect(calls().filter((line) => line.startsWith("run "))).toHaveLength(2);
  await second.close();
});

function whyNoEngine(): string | undefined {
  try {
    const images = execFileSync("docker", ["images", "--format", "{{.Repository}}:{{.Tag}}"], { stdio: "pipe" });
    return images.toString().includes("nikolaik/python-nodejs") ? undefined : "the default image is not here";
  } catch {
    return "no container engine answers";
  }
}
const reason = whyNoEngine();
if (reason) process.stderr.write(`skipped: a real container, because ${reason}\n`);

it.skipIf(reason !== undefined)(
  "runs in a real container",
  async () => {
    const image = "nikolaik/python-nodejs:python3.11-nodejs20";
    const backend = new RemoteBackend({
      channel: new ContainerChannel({
        image,
        env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
        cpus: 1,
        memoryMb: 512,
        diskMb: 1_000,
      }),
      cwd: "/workspace",
      variables: {},
    });
    const output = new OutputCapture({ limit: 1_000, spillPath: join(folder.path, "spill") });
    const signal = new AbortController().signal;
    try {
      await backend.run({ command: "echo hi > note; cat note; pwd", timeoutMs: 60_000, signal, output });
      expect((await output.finish()).text).toBe("hi\n/workspace\n");
    } finally {
      await backend.close();
    }
  },
  180_000,
);
