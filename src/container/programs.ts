// Known programs and the permissions they need, so that the question comes before the failure.
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { NamedPermission, Need, Permission, ProgramCall } from "../core/container.ts";

export interface ProgramFacts {
  readonly home: string;
  readonly env: { readonly [name: string]: string | undefined };
  /** The settings files of the repository of the workspace. */
  readonly repositorySettings: readonly string[];
}

interface ProgramRow {
  readonly names: string;
  /** Only calls whose arguments match, joined with blanks. */
  readonly when?: RegExp | undefined;
  needs(facts: ProgramFacts, call: ProgramCall): Permission | undefined;
  readonly reason: string;
}

const named = (name: NamedPermission): Permission => ({ kind: "named", name });

/** A file or folder in the home, when it exists. */
const inHome =
  (kind: "read" | "write", path: string) =>
  ({ home }: ProgramFacts): Permission | undefined =>
    existsSync(join(home, path)) ? { kind, path: join(home, path) } : undefined;

const agent = ({ env }: ProgramFacts): Permission | undefined =>
  env.SSH_AUTH_SOCK && existsSync(env.SSH_AUTH_SOCK) ? named("ssh-agent") : undefined;

const SSH_URL = /(?:^|[\s=])(?:ssh:\/\/|git\+ssh:\/\/|[\w.-]+@[\w.-]+:)/;

function usesSshRemote(facts: ProgramFacts, { args }: ProgramCall): boolean {
  if (SSH_URL.test(args.join(" "))) return true;
  return facts.repositorySettings.some((path) => existsSync(path) && SSH_URL.test(readFileSync(path, "utf8")));
}

const DOCKER_SOCKETS = ["/run/docker.sock", "/var/run/docker.sock"];
const docker = ({ env }: ProgramFacts): Permission | undefined =>
  env.DOCKER_HOST || DOCKER_SOCKETS.some((path) => existsSync(path)) ? named("docker") : undefined;

const desktop = ({ env }: ProgramFacts): Permission | undefined =>
  env.DBUS_SESSION_BUS_ADDRESS || env.DISPLAY || env.WAYLAND_DISPLAY ? named("desktop") : undefined;

const ROWS: readonly ProgramRow[] = [
  {
    names: "git",
    when: /^(?:\S+=\S+ |-\S+ |-[cC] \S+ )*(?:push|pull|fetch|clone|ls-remote|submodule|remote update)\b/,
    needs: (facts, call) => (usesSshRemote(facts, call) ? agent(facts) : undefined),
    reason: "git signs in to the server with your ssh agent; the key files stay hidden",
  },
  {
    names: "ssh scp sftp rsync mosh autossh sshfs",
    when: /[^-\s]/,
    needs: agent,
    reason: "it signs in with your ssh agent; the key files stay hidden",
  },
  {
    names: "docker docker-compose kind minikube k3d act dive lazydocker",
    needs: docker,
    reason: "it talks to the docker service of this machine",
  },
  {
    names: "podman buildah skopeo",
    needs: ({ env }) => (env.CONTAINER_HOST ? named("docker") : undefined),
    reason: "it talks to the container service of this machine",
  },
  {
    names: "kubectl helm k9s kubectx kustomize flux argocd oc",
    needs: inHome("read", ".kube"),
    reason: "it reads the access data of your clusters",
  },
  { names: "aws sam cdk eksctl copilot", needs: inHome("read", ".aws"), reason: "it reads your AWS access data" },
  {
    names: "gcloud gsutil bq",
    needs: inHome("write", ".config/gcloud"),
    reason: "it reads and renews your Google Cloud access data",
  },
  { names: "az func azd", needs: inHome("write", ".azure"), reason: "it reads and renews your Azure access data" },
  { names: "gh", needs: inHome("read", ".config/gh"), reason: "it signs in to GitHub with your token" },
  { names: "glab", needs: inHome("read", ".config/glab-cli"), reason: "it signs in to GitLab with your token" },
  {
    names: "npm pnpm yarn",
    when: /^(?:publish|login|adduser|logout|token|owner|access|whoami|deprecate|unpublish|dist-tag)\b/,
    needs: inHome("read", ".npmrc"),
    reason: "it signs in to the registry with your token",
  },
  {
    names: "twine flit hatch",
    when: /upload|publish/,
    needs: inHome("read", ".pypirc"),
    reason: "it signs in to the package index",
  },
  {
    names: "cargo",
    when: /^(?:publish|login|yank|owner)\b/,
    needs: inHome("read", ".cargo/credentials.toml"),
    reason: "it signs in to the registry with your token",
  },
  {
    names: "gem",
    when: /^(?:push|yank|owner)\b/,
    needs: inHome("read", ".gem/credentials"),
    reason: "it signs in to the registry with your key",
  },
  {
    names: "terraform tofu pulumi",
    when: /^(?:plan|apply|destroy|import|refresh|login|up|state)\b/,
    needs: inHome("read", ".terraform.d"),
    reason: "it reads your access data",
  },
  { names: "flyctl fly", needs: inHome("read", ".fly"), reason: "it signs in with your token" },
  { names: "heroku", needs: inHome("read", ".netrc"), reason: "it signs in with your token" },
  {
    names: "vercel netlify firebase wrangler",
    needs: inHome("read", ".config"),
    reason: "it signs in with your token",
  },
  { names: "rclone", needs: inHome("read", ".config/rclone"), reason: "it reads the access data of your storage" },
  { names: "gpg gpg2", needs: inHome("write", ".gnupg"), reason: "it uses your keyring" },
  { names: "pass", needs: inHome("read", ".password-store"), reason: "it reads your password store" },
  {
    names:
      "xdg-open open code codium cursor subl gedit kate notify-send gsettings dconf gnome-terminal gnome-screenshot playerctl flatpak zenity kdialog dbus-send gdbus qdbus wmctrl xdotool ydotool firefox google-chrome chromium spotify",
    needs: desktop,
    reason: "it uses your desktop session",
  },
  {
    names: "systemctl busctl loginctl journalctl",
    when: /--user\b/,
    needs: desktop,
    reason: "it talks to the services of your session",
  },
  {
    names:
      "pactl pacmd paplay parec aplay arecord amixer alsamixer wpctl pw-play pw-record pw-cli mpv mpg123 ffplay cvlc vlc sox play rec espeak spd-say",
    needs: () => (existsSync("/dev/snd") ? named("audio") : undefined),
    reason: "it plays or records sound",
  },
  {
    names: "nvidia-smi nvtop rocm-smi rocminfo vulkaninfo glxinfo clinfo ollama",
    needs: () => (["/dev/dri", "/dev/nvidia0", "/dev/kfd"].some((path) => existsSync(path)) ? named("gpu") : undefined),
    reason: "it uses the graphics card",
  },
  {
    names: "xclip xsel wl-copy wl-paste pbcopy pbpaste",
    needs: ({ env }) => (env.DISPLAY || env.WAYLAND_DISPLAY ? named("clipboard") : undefined),
    reason: "it uses the clipboard",
  },
  {
    names: "systemctl service crontab at atq loginctl hostnamectl timedatectl nmcli bluetoothctl udisksctl hermes",
    needs: (_facts, { name }) => ({ kind: "outside", program: basename(name) }),
    reason: "it changes this machine itself, which commands in the container cannot",
  },
];

const BY_NAME = new Map<string, ProgramRow[]>();
for (const row of ROWS) for (const name of row.names.split(" ")) BY_NAME.set(name, [...(BY_NAME.get(name) ?? []), row]);

/** The permission that a program needs here; undefined when it needs none. */
export function needOf(call: ProgramCall, facts: ProgramFacts): Need | undefined {
  const text = call.args.join(" ");
  for (const row of BY_NAME.get(basename(call.name)) ?? []) {
    if (row.when && !row.when.test(text)) continue;
    const permission = row.needs(facts, call);
    if (permission) return { permission, reason: `${basename(call.name)}: ${row.reason}` };
  }
  return undefined;
}

/** Settings that name no program to run. */
const PLAIN_SETTING =
  /^(?:user\.(?:name|email)|core\.(?:autocrlf|eol|filemode|ignorecase|quotepath|abbrev|longpaths|safecrlf)|(?:pull|push|fetch|merge|rebase|color|column|branch|init|log|status|advice|rerere|help)\.[\w.-]+|branch\..+\.(?:remote|merge|rebase|description))$/i;

/** True when the command is one call of git that changes such settings, or adds a remote, and does nothing else. */
export function changesPlainSettings(calls: readonly ProgramCall[]): boolean {
  const [call] = calls;
  if (calls.length !== 1 || call === undefined || call.name !== "git") return false;
  const [verb, ...rest] = call.args;
  const values = rest.filter((arg) => !arg.startsWith("-"));
  if (verb === "config") {
    if (rest.some((arg) => arg.startsWith("-") && arg !== "--local" && arg !== "--add" && arg !== "--unset"))
      return false;
    return PLAIN_SETTING.test(values[0] ?? "");
  }
  if (verb === "remote" && (values[0] === "add" || values[0] === "set-url"))
    return (
      rest.every((arg) => !arg.startsWith("-")) && /^(?:https?:\/\/|git@|ssh:\/\/)[\w@.:/~+-]+$/.test(values[2] ?? "")
    );
  if (verb === "remote" && (values[0] === "remove" || values[0] === "rename")) return true;
  return verb === "branch" && rest.some((arg) => /^(?:-u|--set-upstream-to(?:=.*)?|--unset-upstream)$/.test(arg));
}

const LOCAL = new Set(
  (
    "ls cat head tail wc sort uniq cut tr grep egrep fgrep rg sed awk find echo printf pwd cd true false test [ mkdir rmdir rm cp mv ln " +
    "touch chmod stat file du df date id whoami uname which type export set unset tee diff cmp basename dirname realpath readlink seq " +
    "sleep env printenv kill ps tar gzip gunzip zip unzip md5sum sha256sum base64 xxd od tree jq"
  ).split(" "),
);
const LOCAL_GIT =
  /^(?:status|log|diff|show|add|commit|branch|checkout|switch|restore|stash|tag|rev-parse|ls-files|blame|reset|merge|rebase)$/;

/** True when none of the programs uses the network. */
export function areLocal(calls: readonly ProgramCall[]): boolean {
  return calls.every(({ name, args }) => (name === "git" ? LOCAL_GIT.test(args[0] ?? "") : LOCAL.has(basename(name))));
}
