// The backend that the configuration chooses for commands.
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative } from "node:path";
import type { Config } from "../../core/config/config.ts";
import { isSecretEnvName, knownEnvNames } from "../../core/config/env-names.ts";
import { UserError } from "../../core/failure.ts";
import type { Home } from "../../core/home.ts";
import { containerEnv, terminalEnv } from "../../security/child-env.ts";
import type { Backend } from "./backend.ts";
import type { RemoteChannel } from "./remote-command.ts";
import type { RemoteFiles } from "./remote-file-sync.ts";
import type { RemoteBackend as Remote } from "./remote-shell.ts";
import type { SharedChannel } from "./shared-channel.ts";

type TerminalConfig = Config["terminal"];
type Values = { readonly [name: string]: string };

export interface BackendPlace {
  readonly cwd: string;
  /** Variables that loaded skills pass on; asked before every command. */
  declared(): { readonly [name: string]: string };
  /** Files with credentials that loaded skills declared, below the home. */
  credentials?(): readonly string[];
}

/** The environment of commands: everything but secrets, plus what the person lets through by name. */
export function commandEnvironment(home: Home, config: Config): { [name: string]: string } {
  return terminalEnv(home.env, {
    blocked: new Set([...knownEnvNames].filter(isSecretEnvName)),
    passthrough: config.terminal.env_passthrough as readonly string[],
    home: home.childHome,
  });
}

/** For programs that lead elsewhere: the person's own home, with its keys and known hosts. */
function clientEnvironment(home: Home, config: Config): { [name: string]: string } {
  const { HOME, SSH_AUTH_SOCK } = home.env;
  return {
    ...commandEnvironment(home, config),
    ...(HOME ? { HOME } : {}),
    ...(SSH_AUTH_SOCK ? { SSH_AUTH_SOCK } : {}),
  };
}

/** `terminal.cwd` when it names a folder there; relative paths mean this machine. */
function remoteFolder(terminal: TerminalConfig, otherwise: string): string {
  return terminal.cwd.startsWith("/") ? terminal.cwd : otherwise;
}

async function openLocal(home: Home, config: Config, place: BackendPlace): Promise<Backend> {
  const { terminal } = config;
  const options = {
    cwd: place.cwd,
    declared: () => place.declared(),
    env: commandEnvironment(home, config),
    initFiles: terminal.shell_init_files as readonly string[],
    useBashrc: terminal.auto_source_bashrc,
  };
  if (terminal.sandbox !== "bubblewrap") {
    const { LocalBackend } = await import("./local.ts");
    return new LocalBackend(options);
  }
  const { SandboxedBackend, sandboxAvailable } = await import("./sandbox.ts");
  const usable = await sandboxAvailable(options.env);
  if (!usable.ok)
    throw new UserError(`terminal.sandbox is bubblewrap, but ${usable.reason}`, {
      hint: "Install the package bubblewrap, or run without: hermes config set terminal.sandbox none",
    });
  return new SandboxedBackend({
    ...options,
    home: home.env.HOME ?? homedir(),
    hidden: [home.path],
    network: terminal.sandbox_network,
    writable: (terminal.sandbox_writable as readonly string[]).filter(isAbsolute),
  });
}

/** What loaded skills need elsewhere; their files keep their place below `folder`, the home of Hermes there. */
function skillFiles(home: Home, place: BackendPlace, folder: string): RemoteFiles {
  const root = realpathSync(home.path);
  return {
    variables: place.declared(),
    files: (place.credentials?.() ?? [])
      .filter((path) => existsSync(path) && isInside(realpathSync(path), root))
      .map((path) => ({ from: realpathSync(path), to: join(folder, relative(home.path, path)) })),
  };
}

async function openSsh(home: Home, config: Config, place: BackendPlace): Promise<Backend> {
  const { terminal } = config;
  const [{ RemoteBackend }, { SshChannel }] = await Promise.all([import("./remote-shell.ts"), import("./ssh.ts")]);
  const key = terminal.ssh_key?.replace(/^~(?=\/)/, home.env.HOME ?? homedir());
  const backend = new RemoteBackend({
    channel: new SshChannel({
      host: terminal.ssh_host ?? "",
      ...(terminal.ssh_user ? { user: terminal.ssh_user } : {}),
      ...(terminal.ssh_port ? { port: terminal.ssh_port } : {}),
      ...(key ? { keyFile: key } : {}),
      env: clientEnvironment(home, config),
    }),
    cwd: remoteFolder(terminal, ""),
    values: containerEnv(home.env, { values: {}, forward: terminal.env_passthrough as readonly string[] }),
    belongings: () => skillFiles(home, place, ".hermes"),
  });
  return started(backend);
}

/** Files that the person lists, inside the home only; they are mounted read-only at the same place in the container. */
function credentialFiles(home: Home, terminal: TerminalConfig): { from: string; to: string }[] {
  const names = (terminal.credential_files ?? []).filter((name): name is string => typeof name === "string");
  const root = realpathSync(home.path);
  return names
    .map((name) => join(root, name))
    .filter((path) => existsSync(path))
    .filter((path) => isInside(path, root) && isInside(realpathSync(path), root))
    .map((from) => ({ from: realpathSync(from), to: join("/root/.hermes", relative(root, from)) }));
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return !isAbsolute(way) && !way.startsWith("..");
}

/** The same container for everybody, unless each mounts a folder of its own. */
type Containers = Map<string, SharedChannel>;

async function containerChannel(home: Home, config: Config, cwd: string): Promise<RemoteChannel> {
  const { terminal } = config;
  const { ContainerChannel } = await import("./container.ts");
  const binary = home.env.HERMES_DOCKER_BINARY;
  const sandboxes = terminal.sandbox_dir || join(home.path, "sandboxes");
  const user = hostUser(terminal);
  return new ContainerChannel({
    image: terminal.docker_image,
    env: clientEnvironment(home, config),
    ...(binary ? { binary } : {}),
    ...(terminal.container_persistent ? { keepIn: join(sandboxes, "docker", "default") } : {}),
    ...(terminal.docker_mount_cwd_to_workspace ? { workspace: cwd } : {}),
    volumes: terminal.docker_volumes as readonly string[],
    readOnly: credentialFiles(home, terminal),
    extraArgs: terminal.docker_extra_args as readonly string[],
    ...(user ? { user } : {}),
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
  home: Home,
  config: Config,
  place: BackendPlace,
  containers: Containers,
): Promise<Backend> {
  const { terminal } = config;
  const { cwd } = place;
  const [{ RemoteBackend }, { SharedChannel }, registrar] = await Promise.all([
    import("./remote-shell.ts"),
    import("./shared-channel.ts"),
    containerChannel(home, config, cwd),
  ]);
  const key = terminal.docker_mount_cwd_to_workspace ? cwd : "default";
  const shared = containers.get(key) ?? new SharedChannel(registrar);
  containers.set(key, shared);
  const start = terminal.docker_mount_cwd_to_workspace || hostUser(terminal) ? "/workspace" : "/root";
  // The person's own account has no home of its own there: what is private goes where it vanishes with the container.
  const folder = hostUser(terminal) ? "/tmp/.hermes" : "/root/.hermes";
  const backend = new RemoteBackend({
    belongings: () => skillFiles(home, place, folder),
    channel: shared.handle(),
    cwd: remoteFolder(terminal, start),
    values: containerEnv(home.env, {
      values: terminal.docker_env as Values,
      forward: [
        ...(terminal.docker_forward_env as readonly string[]),
        ...(terminal.env_passthrough as readonly string[]),
      ],
    }),
  });
  return started(backend);
}

/** Connects; what was half opened is closed again. */
async function started(backend: Remote): Promise<Backend> {
  try {
    await backend.start();
    return backend;
  } catch (error) {
    await backend.close();
    throw error;
  }
}

/** How conversations of a program get their backend. */
export function backendOpener(home: Home, config: Config): (place: BackendPlace) => Promise<Backend> {
  const { backend } = config.terminal;
  const containers: Containers = new Map();
  return async (place) => {
    if (backend === "local") return openLocal(home, config, place);
    if (backend === "ssh") return openSsh(home, config, place);
    if (backend === "docker") return openContainer(home, config, place, containers);
    throw new UserError(
      `terminal.backend "${backend}" is not available yet; there are local, ssh and docker (also podman)`,
      { hint: "Choose one of them: hermes config set terminal.backend local" },
    );
  };
}
