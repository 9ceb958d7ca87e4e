// Runs commands in a hardened container of docker or podman.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { UserError } from "../../core/failure.ts";
import type { Availability } from "../../core/tool/tool.ts";
import { isAlive } from "../../lib/process/is-alive.ts";
import { isExecutable } from "../../lib/which.ts";
import type { RemoteChannel } from "./remote-command.ts";

const START_MS = 120_000;
const STOP_SECONDS = 60;
const CLIENT_MS = 10_000;
const LABEL = "hermes-agent.owner";
const MAC_PATHS = ["/Applications/Docker.app/Contents/Resources/bin/docker", "/opt/homebrew/bin/podman"];

export interface ContainerOptions {
  readonly image: string;
  /** The environment of the docker or podman client. */
  readonly env: { readonly [name: string]: string };
  /** HERMES_DOCKER_BINARY: used instead of searching PATH. */
  readonly binary?: string | undefined;
  /** Folder for /root and /workspace that outlives the container; without it they are removed with the container. */
  readonly persistentDir?: string | undefined;
  /** Folder to mount at /workspace. */
  readonly workspace?: string | undefined;
  readonly volumes?: readonly string[] | undefined;
  /** Read-only files: host path and path in the container. */
  readonly readOnly?: readonly { readonly from: string; readonly to: string }[] | undefined;
  readonly extraArgs?: readonly string[] | undefined;
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  readonly cpus: number;
  readonly memoryMb: number;
  readonly diskMb: number;
  readonly network?: boolean | undefined;
}

/** The path of docker or podman: the named binary, or the first on PATH. */
export function findEngine(env: { readonly [name: string]: string }, binary?: string): string | undefined {
  const folders = (env.PATH ?? "").split(delimiter).filter(isAbsolute);
  const named = binary ? [isAbsolute(binary) ? binary : "", ...folders.map((folder) => join(folder, binary))] : [];
  const found = ["docker", "podman"].flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...named, ...(binary ? [] : [...found, ...MAC_PATHS])].find((path) => path !== "" && isExecutable(path));
}

/** Drops every capability and privilege that ordinary commands do not need. */
function hardening(options: ContainerOptions): string[] {
  const added = ["DAC_OVERRIDE", "CHOWN", "FOWNER", ...(options.user ? [] : ["SETUID", "SETGID"])];
  return [
    "--init",
    "--cap-drop=ALL",
    ...added.map((capability) => `--cap-add=${capability}`),
    "--security-opt=no-new-privileges",
    "--pids-limit=256",
    "--tmpfs=/tmp:rw,nosuid,size=512m",
    "--tmpfs=/var/tmp:rw,noexec,nosuid,size=256m",
    "--tmpfs=/run:rw,noexec,nosuid,size=64m",
    ...(options.cpus > 0 ? [`--cpus=${options.cpus}`] : []),
    `--memory=${options.memoryMb}m`,
    ...(options.network === false ? ["--network=none"] : []),
    ...(options.user ? [`--user=${options.user.uid}:${options.user.gid}`, "--env=HOME=/workspace"] : []),
  ];
}

function mounts(options: ContainerOptions): string[] {
  const { persistentDir, workspace } = options;
  const bind = (from: string, to: string) => `--volume=${from}:${to}`;
  const own = workspace ? [bind(workspace, "/workspace")] : [];
  const homes = persistentDir
    ? [
        bind(join(persistentDir, "home"), "/root"),
        ...(workspace ? [] : [bind(join(persistentDir, "workspace"), "/workspace")]),
      ]
    : [
        ...(workspace ? [] : ["--tmpfs=/workspace:rw,exec,size=10g"]),
        "--tmpfs=/home:rw,exec,size=1g",
        "--tmpfs=/root:rw,exec,size=1g",
      ];
  return [
    ...own,
    ...homes,
    ...(options.readOnly ?? []).map(({ from, to }) => `--volume=${from}:${to}:ro`),
    ...(options.volumes ?? []).map((volume) => `--volume=${volume}`),
  ];
}

interface EngineInfo {
  readonly Driver?: string | undefined;
  readonly DriverStatus?: readonly (readonly string[])[] | null | undefined;
}

/** Size limits need overlay2 on xfs; with other storage the engine would not start the container. */
function quota(info: EngineInfo | undefined, diskMb: number): string[] {
  const onXfs = info?.DriverStatus?.some(([key, value]) => key === "Backing Filesystem" && value === "xfs");
  return info?.Driver === "overlay2" && onXfs ? [`--storage-opt=size=${diskMb}m`] : [];
}

interface ClientResult {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

export class ContainerChannel implements RemoteChannel {
  readonly #options: ContainerOptions;
  readonly #engine: string | undefined;
  readonly #container = `hermes-${randomBytes(4).toString("hex")}`;
  #running = false;

  constructor(options: ContainerOptions) {
    this.#options = options;
    this.#engine = findEngine(options.env, options.binary);
  }

  get name(): string {
    return this.#engine?.endsWith("podman") ? "podman" : "docker";
  }

  get label(): string {
    return `container ${this.#container}`;
  }

  get clientEnv(): { readonly [name: string]: string } {
    return this.#options.env;
  }

  #run(args: readonly string[], timeout = CLIENT_MS): Promise<ClientResult> {
    return new Promise((resolve) => {
      execFile(
        this.#engine ?? "docker",
        [...args],
        { env: this.#options.env, timeout, maxBuffer: 4 * 1024 * 1024 },
        (failure, out, error) => {
          const code = typeof failure?.code === "number" ? failure.code : failure ? 1 : 0;
          resolve({ code, out, error: error.trim() || (failure?.message ?? "") });
        },
      );
    });
  }

  async available(): Promise<Availability> {
    if (!this.#engine) {
      const { binary } = this.#options;
      return {
        ok: false,
        reason: binary ? `HERMES_DOCKER_BINARY is not a program: ${binary}` : "neither docker nor podman is installed",
      };
    }
    const { code, error } = await this.#run(["version", "--format", "{{.Server.Version}}"]);
    return code === 0 ? { ok: true } : { ok: false, reason: `${this.name} does not respond: ${error.slice(-300)}` };
  }

  async #info(): Promise<EngineInfo | undefined> {
    const { code, out } = await this.#run(["info", "--format", "{{json .}}"]);
    if (code !== 0) return undefined;
    try {
      return JSON.parse(out) as EngineInfo;
    } catch {
      return undefined;
    }
  }

  /** Removes containers of Hermes processes that were killed. */
  async #sweep(): Promise<void> {
    const { out } = await this.#run([
      "ps",
      "--all",
      `--filter=label=${LABEL}`,
      `--format={{.ID}} {{.Label "${LABEL}"}}`,
    ]);
    const orphans = out
      .split("\n")
      .map((line) => line.trim().split(" "))
      .filter(([id, owner]) => id && owner && /^\d+$/.test(owner) && !isAlive(Number(owner)));
    if (orphans.length > 0) await this.#run(["rm", "--force", ...orphans.map(([id]) => id ?? "")], START_MS);
  }

  async open(): Promise<void> {
    const options = this.#options;
    await this.#sweep();
    if (options.persistentDir)
      for (const folder of ["home", "workspace"])
        mkdirSync(join(options.persistentDir, folder), { recursive: true, mode: 0o700 });
    const args = [
      "run",
      "--detach",
      `--name=${this.#container}`,
      `--label=${LABEL}=${process.pid}`,
      "--workdir=/workspace",
      ...hardening(options),
      ...quota(await this.#info(), options.diskMb),
      ...mounts(options),
      ...(options.extraArgs ?? []),
      options.image,
      "sleep",
      "infinity",
    ];
    this.#running = true;
    const { code, error } = await this.#run(args, START_MS);
    if (code === 0) return;
    await this.close();
    throw new UserError(`the container did not start: ${error.slice(-500)}`, {
      hint: `Check terminal.docker_image (${options.image}) and that ${this.name} can run it: ${this.name} run --rm ${options.image} true`,
    });
  }

  argv(script: string): readonly string[] {
    return [this.#engine ?? "docker", "exec", "--interactive", this.#container, "bash", "-c", script];
  }

  async close(): Promise<void> {
    if (!this.#running) return;
    this.#running = false;
    // Programs get time to write to persistent folders; without those the container is killed at once.
    if (this.#options.persistentDir)
      await this.#run(["stop", `--time=${STOP_SECONDS}`, this.#container], (STOP_SECONDS + 10) * 1000);
    await this.#run(["rm", "--force", "--volumes", this.#container], STOP_SECONDS * 1000);
  }
}
