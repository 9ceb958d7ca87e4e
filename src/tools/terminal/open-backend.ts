// Opens the backend that `terminal.backend` names: this machine, ssh, or a container.
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import type { Config } from "../../core/config/config.ts";
import type { Containers } from "../../core/container.ts";
import { UserError } from "../../core/failure.ts";
import type { Home } from "../../core/home.ts";
import { isPathInside } from "../../lib/path-inside.ts";
import type { Backend } from "./backend.ts";
import type { RemoteChannel } from "./remote-command.ts";
import type { RemoteFiles } from "./remote-file-sync.ts";
import type { RemoteBackend as Remote } from "./remote-shell.ts";
import type { SharedChannel } from "./shared-channel.ts";

type TerminalConfig = Config["terminal"];
type Variables = { readonly [name: string]: string };

/** Environments of child processes. The implementation leaves secrets out. */
export interface BackendEnvironments {
  /** For commands on this machine, and for the clients of ssh and containers. */
  commands(): { [name: string]: string };
  /** For machines that inherit nothing: `values`, and the variables of this process that `forward` names. */
  explicit(variables: { readonly values: Variables; readonly forward: readonly string[] }): { [name: string]: string };
}

export interface BackendOptions {
  readonly home: Home;
  readonly terminal: TerminalConfig;
  readonly environments: BackendEnvironments;
  /** The containers of local commands; absent when commands run without one. */
  readonly containers?: Containers | undefined;
}

export interface BackendRequest {
  readonly cwd: string;
  /** Variables that loaded skills declare; read before every command. */
  declared(): Variables;
  /** Files with credentials that loaded skills declare, inside the Hermes home. */
  credentials?(): readonly string[];
}

/** For ssh and container clients: with the user's own HOME, which holds keys and known hosts. */
function clientEnvironment({ home, environments }: BackendOptions): { [name: string]: string } {
  const { HOME, SSH_AUTH_SOCK } = home.env;
  return {
    ...environments.commands(),
    ...(HOME ? { HOME } : {}),
    ...(SSH_AUTH_SOCK ? { SSH_AUTH_SOCK } : {}),
  };
}

/** `terminal.cwd` when it is absolute; relative paths refer to this machine. */
function remoteFolder(terminal: TerminalConfig, fallback: string): string {
  return terminal.cwd.startsWith("/") ? terminal.cwd : fallback;
}

async function openLocal(
  { terminal, environments, containers }: BackendOptions,
  request: BackendRequest,
): Promise<Backend> {
  const options = {
    cwd: request.cwd,
    declared: () => request.declared(),
    env: environments.commands(),
    initFiles: terminal.shell_init_files as readonly string[],
    useBashrc: terminal.auto_source_bashrc,
  };
  const container = await containers?.open({
    workspace: request.cwd,
    credentials: () => request.credentials?.() ?? [],
  });
  if (!container) {
    const { LocalBackend } = await import("./local.ts");
    return new LocalBackend(options);
  }
  const { ContainedBackend } = await import("./contained.ts");
  return new ContainedBackend(options, container);
}

/** Variables and files of loaded skills for a remote machine; files keep their path relative to the Hermes home. */
function skillFiles(home: Home, request: BackendRequest, folder: string): RemoteFiles {
  const root = realpathSync(home.path);
  return {
    variables: request.declared(),
    files: (request.credentials?.() ?? [])
      .filter((path) => existsSync(path) && isPathInside(realpathSync(path), root))
      .map((path) => ({ from: realpathSync(path), to: join(folder, relative(home.path, path)) })),
  };
}

async function openSsh(options: BackendOptions, request: BackendRequest): Promise<Backend> {
  const { home, terminal, environments } = options;
  const [{ RemoteBackend }, { SshChannel }] = await Promise.all([import("./remote-shell.ts"), import("./ssh.ts")]);
  const backend = new RemoteBackend({
    channel: new SshChannel({
      host: terminal.ssh_host ?? "",
      user: terminal.ssh_user || undefined,
      port: terminal.ssh_port || undefined,
      keyFile: terminal.ssh_key?.replace(/^~(?=\/)/, home.env.HOME ?? homedir()) || undefined,
      env: clientEnvironment(options),
    }),
    cwd: remoteFolder(terminal, ""),
    variables: environments.explicit({ values: {}, forward: terminal.env_passthrough as readonly string[] }),
    skillFiles: () => skillFiles(home, request, ".hermes"),
  });
  return started(backend);
}

/** `terminal.credential_files`: inside the Hermes home only, mounted read-only at the same relative path. */
function credentialFiles(home: Home, terminal: TerminalConfig): { from: string; to: string }[] {
  const names = (terminal.credential_files ?? []).filter((name): name is string => typeof name === "string");
  const root = realpathSync(home.path);
  return names
    .map((name) => join(root, name))
    .filter((path) => existsSync(path))
    .filter((path) => isPathInside(path, root) && isPathInside(realpathSync(path), root))
    .map((from) => ({ from: realpathSync(from), to: join("/root/.hermes", relative(root, from)) }));
}

/** One container for all conversations, or one per folder when `docker_mount_cwd_to_workspace` is set. */
type DockerContainers = Map<string, SharedChannel>;

async function containerChannel(options: BackendOptions, cwd: string): Promise<RemoteChannel> {
  const { home, terminal } = options;
  const { ContainerChannel } = await import("./container.ts");
  const sandboxes = terminal.sandbox_dir || join(home.path, "sandboxes");
  return new ContainerChannel({
    image: terminal.docker_image,
    env: clientEnvironment(options),
    binary: home.env.HERMES_DOCKER_BINARY || undefined,
    persistentDir: terminal.container_persistent ? join(sandboxes, "docker", "default") : undefined,
    workspace: terminal.docker_mount_cwd_to_workspace ? cwd : undefined,
    volumes: terminal.docker_volumes as readonly string[],
    readOnly: credentialFiles(home, terminal),
    extraArgs: terminal.docker_extra_args as readonly string[],
    user: hostUser(terminal),
    cpus: terminal.container_cpu,
    memoryMb: terminal.container_memory,
    diskMb: terminal.container_disk,
  });
}

function hostUser(terminal: TerminalConfig): { uid: number; gid: number } | undefined {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  return terminal.docker_run_as_host_user && uid !== undefined && gid !== undefined ? { uid, gid } : undefined;
}

async function openContainer(
  options: BackendOptions,
  request: BackendRequest,
  containers: DockerContainers,
): Promise<Backend> {
  const { home, terminal, environments } = options;
  const { cwd } = request;
  const [{ RemoteBackend }, { SharedChannel }, channel] = await Promise.all([
    import("./remote-shell.ts"),
    import("./shared-channel.ts"),
    containerChannel(options, cwd),
  ]);
  const key = terminal.docker_mount_cwd_to_workspace ? cwd : "default";
  const shared = containers.get(key) ?? new SharedChannel(channel);
  containers.set(key, shared);
  const start = terminal.docker_mount_cwd_to_workspace || hostUser(terminal) ? "/workspace" : "/root";
  // The host user's HOME in the container is the mounted workspace; /tmp is removed with the container.
  const folder = hostUser(terminal) ? "/tmp/.hermes" : "/root/.hermes";
  const backend = new RemoteBackend({
    skillFiles: () => skillFiles(home, request, folder),
    channel: shared.handle(),
    cwd: remoteFolder(terminal, start),
    variables: environments.explicit({
      values: terminal.docker_env as Variables,
      forward: [
        ...(terminal.docker_forward_env as readonly string[]),
        ...(terminal.env_passthrough as readonly string[]),
      ],
    }),
  });
  return started(backend);
}

/** Connects; closes the backend again when that fails. */
async function started(backend: Remote): Promise<Backend> {
  try {
    await backend.start();
    return backend;
  } catch (error) {
    await backend.close();
    throw error;
  }
}

/** Returns the function that opens a backend for each conversation. */
export function backendOpener(options: BackendOptions): (request: BackendRequest) => Promise<Backend> {
  const { backend } = options.terminal;
  const containers: DockerContainers = new Map();
  return async (request) => {
    if (backend === "local") return openLocal(options, request);
    if (backend === "ssh") return openSsh(options, request);
    if (backend === "docker") return openContainer(options, request, containers);
    throw new UserError(
      `terminal.backend "${backend}" is not available yet; there are local, ssh and docker (also podman)`,
      { hint: "Choose one of them: hermes config set terminal.backend local" },
    );
  };
}
