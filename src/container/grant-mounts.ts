// What each named permission adds to a container: sockets, devices and variables.
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { NamedPermission } from "../core/container.ts";
import type { Mount } from "./mount-plan.ts";

export interface GrantFacts {
  readonly home: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly uid: number;
}

const DISPLAY_VARIABLES = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"];

/** Variables that name services of the desktop; removed unless a permission needs them. */
export const SERVICE_VARIABLES: readonly string[] = [
  ...DISPLAY_VARIABLES,
  ...["DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO"],
  ...[
    "PULSE_SERVER",
    "PIPEWIRE_REMOTE",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "GNOME_KEYRING_CONTROL",
    "I3SOCK",
    "SWAYSOCK",
  ],
  ...["TMUX", "STY", "VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE", "VSCODE_GIT_ASKPASS_NODE", "SESSION_MANAGER"],
  ...["KITTY_LISTEN_ON", "NVIM", "INVOCATION_ID", "NOTIFY_SOCKET"],
];

/** The variables that a permission keeps. */
const KEEPS: Readonly<Partial<Record<NamedPermission, readonly string[]>>> = {
  desktop: [...DISPLAY_VARIABLES, "DBUS_SESSION_BUS_ADDRESS", "SESSION_MANAGER", "SWAYSOCK", "I3SOCK"],
  audio: ["XDG_RUNTIME_DIR", "PULSE_SERVER", "PIPEWIRE_REMOTE"],
  docker: ["DOCKER_HOST", "CONTAINER_HOST", "XDG_RUNTIME_DIR"],
  "ssh-agent": ["SSH_AUTH_SOCK"],
  clipboard: DISPLAY_VARIABLES,
};

export function keptVariables(granted: ReadonlySet<NamedPermission>): Set<string> {
  return new Set([...granted].flatMap((name) => KEEPS[name] ?? []));
}

function devices(pattern: RegExp): Mount[] {
  try {
    return readdirSync("/dev")
      .filter((name) => pattern.test(name))
      .map((name) => ({ kind: "device", path: join("/dev", name) }));
  } catch {
    // This system has no such devices.
    return [];
  }
}

const write = (paths: readonly (string | undefined)[]): Mount[] =>
  paths.filter((path): path is string => path !== undefined && path !== "").map((path) => ({ kind: "write", path }));

function displayMounts({ home, env }: GrantFacts, runtime: string): Mount[] {
  const wayland = env.WAYLAND_DISPLAY ?? "wayland-0";
  return [
    ...write(["/tmp/.X11-unix", wayland.startsWith("/") ? wayland : join(runtime, wayland)]),
    { kind: "read", path: env.XAUTHORITY ?? join(home, ".Xauthority") },
  ];
}

function socketOf(address: string | undefined): string | undefined {
  return address?.startsWith("unix://") ? address.slice("unix://".length) : undefined;
}

export function mountsOf(name: NamedPermission, facts: GrantFacts): Mount[] {
  const { home, env, uid } = facts;
  const runtime = env.XDG_RUNTIME_DIR ?? `/run/user/${uid}`;
  switch (name) {
    case "desktop":
      return [...write([runtime]), ...displayMounts(facts, runtime)];
    case "clipboard":
      return displayMounts(facts, runtime);
    case "audio":
      return [...write([join(runtime, "pulse"), join(runtime, "pipewire-0")]), ...devices(/^snd$/)];
    case "gpu":
      return devices(/^(?:dri|kfd|nvidia.*|dxg)$/);
    case "docker":
      return [
        ...write(["/run/docker.sock", join(runtime, "docker.sock"), join(runtime, "podman"), "/run/podman"]),
        ...write([socketOf(env.DOCKER_HOST)]),
        ...[".docker/contexts", ".docker/cli-plugins"].map((path): Mount => ({ kind: "read", path: join(home, path) })),
      ];
    case "services":
      return write(["/run/postgresql", "/run/mysqld", "/run/redis", "/run/memcached", "/run/systemd/resolve"]);
    case "ssh-agent": {
      const socket = env.SSH_AUTH_SOCK;
      // The folder is mounted, because the agent may replace its socket.
      return socket ? [{ kind: "folder", path: dirname(socket) }, ...write([socket])] : [];
    }
  }
}
