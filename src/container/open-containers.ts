// Opens the containers of a program: finds the means once, then builds one container per conversation.

import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { ContainerState, Containers } from "../core/container.ts";
import { UserError } from "../core/failure.ts";
import { isUserWorkspace } from "../core/user-workspace.ts";
import { which } from "../lib/which.ts";
import { bubblewrap } from "./bubblewrap.ts";
import { OpenContainer, type PrivateNetwork } from "./conversation-container.ts";
import { type Detected, detectMeans, stateOf } from "./detect.ts";
import type { MountPlan } from "./mount-plan.ts";

export interface ContainerOptions {
  readonly hermesHome: string;
  /** The user's home. */
  readonly userHome: string;
  /** `terminal.container`. */
  readonly setting: "auto" | "required" | "host";
  readonly env: { readonly [name: string]: string | undefined };
  /** Further folders that commands may change: `workspace.roots` and `terminal.sandbox_writable`. */
  readonly roots: readonly string[];
  /** Folders of installed skills. */
  readonly readable: readonly string[];
  /** True for a file that the path guard calls secret. */
  isSecret(path: string): boolean;
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** An empty file without read permission; mounted over secret files. */
function unreadableFile(folder: string): string {
  const path = join(folder, "hidden-file");
  writeFileSync(path, "", { mode: 0o000, flag: "w" });
  chmodSync(path, 0o000);
  return path;
}

/** Homes of Hermes to hide: the active one, and the root with all profiles. */
function hermesHomes({ hermesHome, userHome }: ContainerOptions): string[] {
  const root = /^(.*)\/profiles\/[^/]+$/.exec(hermesHome)?.[1];
  return [hermesHome, ...(root ? [root] : []), join(userHome, ".hermes")].flatMap((path) => [
    ...new Set([path, realOr(path)]),
  ]);
}

function projectKey(workspace: string): string {
  return createHash("sha256").update(workspace).digest("hex").slice(0, 16);
}

async function openNetwork(
  detected: Detected,
  folder: string,
  path: string | undefined,
): Promise<PrivateNetwork | undefined> {
  if (!("means" in detected) || detected.means.how !== "bubblewrap" || !which("nsenter", path)) return undefined;
  const { openPrivateNetwork } = await import("./network/private-network.ts");
  return openPrivateNetwork(folder, path ?? "/usr/bin:/bin");
}

async function renderer(detected: Detected): Promise<(plan: MountPlan, network: boolean) => readonly string[]> {
  const means = "means" in detected ? detected.means : undefined;
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  if (means?.how === "unshare") {
    const { unshare } = await import("./unshare.ts");
    return (plan, network) => unshare(plan, { uid, gid, network });
  }
  if (means?.how === "sandbox-exec") {
    const { sandboxExec } = await import("./sandbox-exec.ts");
    return (plan, network) => sandboxExec(plan, { network });
  }
  const disablesNamespaces = means?.disablesNamespaces ?? false;
  return (plan, network) => bubblewrap(plan, { uid, gid, disablesNamespaces, network });
}

export function openContainers(options: ContainerOptions): Containers {
  const { setting, hermesHome, userHome, env } = options;
  const opened = new Set<OpenContainer>();
  let detecting: Promise<Detected> | undefined;
  const detect = () => {
    detecting ??= detectMeans(env);
    return detecting;
  };
  const state = async (): Promise<ContainerState> =>
    setting === "host" ? { kind: "host" } : stateOf(setting, await detect());
  return {
    state,
    open: async ({ workspace, credentials }) => {
      const found = await state();
      if (found.kind === "none" && setting === "required")
        throw new UserError(`terminal.container is required, but ${found.reason}`, { hint: found.hint });
      if (found.kind !== "contained") return undefined;
      const detected = await detect();
      const folder = mkdtempSync(join(tmpdir(), `hermes-container-${process.pid}-`));
      const temp = join(folder, "tmp");
      mkdirSync(temp, { mode: 0o700 });
      const key = projectKey(realOr(workspace));
      const apart = isUserWorkspace(hermesHome, workspace);
      const container: OpenContainer = new OpenContainer({
        onClose: () => void opened.delete(container),
        hermesHome,
        folder,
        isSecret: (path) => options.isSecret(path),
        credentials,
        network: await openNetwork(detected, folder, env.PATH),
        render: await renderer(detected),
        facts: {
          home: realOr(userHome),
          env,
          uid: process.getuid?.() ?? 0,
          apart,
          roots: (apart ? [workspace] : [workspace, ...options.roots.filter(isAbsolute)]).map(realOr),
          hidden: hermesHomes(options),
          temp,
          caches: join(hermesHome, "cache", "container", key),
          unreadable: unreadableFile(folder),
          readable: options.readable,
        },
      });
      opened.add(container);
      return container;
    },
    close: async () => {
      await Promise.all([...opened].map((container) => container.close()));
    },
  };
}
