// The container of a conversation: which files, services and networks the commands of the model can use on this machine.

export const NAMED_PERMISSIONS = ["desktop", "audio", "gpu", "docker", "services", "ssh-agent", "clipboard"] as const;
export type NamedPermission = (typeof NAMED_PERMISSIONS)[number];

/** What a command may use beyond the container's defaults. Written as `docker`, `write:/path`, `host:name`, `outside:program`. */
export type Permission =
  | { readonly kind: "named"; readonly name: NamedPermission }
  | { readonly kind: "read" | "write"; readonly path: string }
  | { readonly kind: "host"; readonly host: string }
  | { readonly kind: "outside"; readonly program: string };

/** How long a permission holds: one command, the conversation, or always in this project. */
export type PermissionScope = "once" | "session" | "project";

/** A permission that a command lacks, and why it needs it. */
export interface Need {
  readonly permission: Permission;
  readonly reason: string;
}

/** A program of a command with its arguments, as the gate has read it. */
export interface ProgramCall {
  readonly name: string;
  readonly args: readonly string[];
}

export interface ContainedRun {
  readonly cwd: string;
  /** Folders outside the container's view that this run needs, writable. */
  readonly folders: readonly string[];
  /** Files and folders that this run may read. */
  readonly readable?: readonly string[] | undefined;
  /** Replaces the folders that this run may change. */
  readonly roots?: readonly string[] | undefined;
  /** False for no network at all; the network of the conversation when absent. */
  readonly network?: boolean | undefined;
  /** All programs of the command are known to use no network. */
  readonly local?: boolean | undefined;
  /** The command is one call that changes the settings of the repository and nothing else. */
  readonly changesRepositorySettings?: boolean | undefined;
}

export interface Contained {
  /** The program and its arguments, to be followed by the command. */
  readonly wrapper: readonly string[];
  /** Changes of the environment: a value, or undefined to remove the variable. */
  readonly env: { readonly [name: string]: string | undefined };
}

/** The container of one conversation. */
export interface ConversationContainer {
  /** The folder of this machine that commands see as /tmp. */
  readonly temp: string;
  contain(run: ContainedRun): Promise<Contained>;
  canRead(path: string): boolean;
  canWrite(path: string): boolean;
  /** True for the home of Hermes, which no permission opens. */
  belongsToHermes(path: string): boolean;
  /** The path of this machine for a path that a command uses; they differ in /tmp. */
  hostPath(path: string): string;
  has(permission: Permission): boolean;
  allow(permission: Permission, scope: PermissionScope): Promise<void>;
  /** Ends the permissions that were given for one command. */
  endCommand(): void;
  /** The permissions that these programs need and do not have. */
  missing(calls: readonly ProgramCall[]): readonly Need[];
  /** True when the user lets each of these programs run outside the container. */
  runsOutside(calls: readonly ProgramCall[]): boolean;
  /** True when the calls are known to use no network. */
  areLocal(calls: readonly ProgramCall[]): boolean;
  /** True when the calls change plain settings of the repository, such as user.name, and nothing else. */
  changesSettings(calls: readonly ProgramCall[]): boolean;
  /** Paths that do not exist now and must not appear without a question. */
  guard(): readonly string[];
  /** Moves files that appeared at guarded paths aside; returns their paths. */
  holdCreated(guarded: readonly string[]): Promise<string[]>;
  /** The permission whose absence explains the failure, found in the output of a command. */
  explainFailure(output: string, folders: readonly string[]): Need | undefined;
  close(): Promise<void>;
}

/** Whether commands can be contained here; `how` names the means. */
export type ContainerState =
  | { readonly kind: "contained"; readonly how: "bubblewrap" | "unshare" | "sandbox-exec"; readonly note?: string }
  /** The user declared the machine itself the boundary. */
  | { readonly kind: "host" }
  /** No container is possible: programs outside a read-only list need approval. */
  | { readonly kind: "none"; readonly reason: string; readonly hint: string };

/** Opens containers; the state is found at the first call. */
export interface Containers {
  state(): Promise<ContainerState>;
  /** Undefined when commands are not contained. */
  open(request: ContainerRequest): Promise<ConversationContainer | undefined>;
  /** Closes the containers that are still open. */
  close(): Promise<void>;
}

export interface ContainerRequest {
  readonly workspace: string;
  /** Files with credentials that loaded skills declare; read before every command. */
  credentials(): readonly string[];
}

/** The text form, as the command line and the permission file use it. */
export function formatPermission(permission: Permission): string {
  if (permission.kind === "named") return permission.name;
  if (permission.kind === "host") return `host:${permission.host}`;
  if (permission.kind === "outside") return `outside:${permission.program}`;
  return `${permission.kind}:${permission.path}`;
}

/** Undefined for a text that names no permission. */
export function parsePermission(text: string): Permission | undefined {
  const name = NAMED_PERMISSIONS.find((known) => known === text);
  if (name) return { kind: "named", name };
  const cut = text.indexOf(":");
  const [kind, value] = [text.slice(0, cut), text.slice(cut + 1)];
  if (cut < 0 || value === "") return undefined;
  if (kind === "host") return { kind, host: value };
  if (kind === "outside") return { kind, program: value };
  return (kind === "read" || kind === "write") && value.startsWith("/") ? { kind, path: value } : undefined;
}

const MEANINGS: Readonly<Record<NamedPermission, string>> = {
  desktop: "use the screen, the session bus and the user services of your desktop",
  audio: "play and record sound",
  gpu: "use the graphics card",
  docker: "control the containers of this machine, which equals full access to it",
  services: "reach services on this machine and use its network directly",
  "ssh-agent": "sign in with the keys in your ssh agent; the key files stay hidden",
  clipboard: "read and change the clipboard",
};

/** What a permission allows, as the end of a sentence: "allow commands to …". */
export function describePermission(permission: Permission): string {
  if (permission.kind === "named") return MEANINGS[permission.name];
  if (permission.kind === "host") return `connect to ${permission.host} on this machine or network`;
  if (permission.kind === "outside")
    return `run ${permission.program} outside the container, with your account's rights`;
  return permission.kind === "read" ? `read ${permission.path}` : `change ${permission.path}`;
}
