// The container for surfaces: its state on this machine, and the permissions of projects.
import { homedir } from "node:os";
import type { Config } from "../core/config/config.ts";
import { type ContainerState, type Permission, parsePermission } from "../core/container.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import { detectMeans, stateOf } from "./detect.ts";
import {
  grantPermission as grant,
  listPermissions as list,
  type ProjectPermissions,
  revokePermission as revoke,
} from "./permission-file.ts";

/** Whether local commands are contained here, why not, and what the user can do. Takes about 20 ms. */
export async function containerState(home: Pick<Home, "env">, config: Config): Promise<ContainerState> {
  if (config.terminal.container === "host") return { kind: "host" };
  return stateOf(config.terminal.container, await detectMeans(home.env));
}

/** One line for doctor and the first prompt; undefined when everything is as it should be. */
export function containerProblem(state: ContainerState): { readonly text: string; readonly hint: string } | undefined {
  if (state.kind !== "none") return undefined;
  return {
    text: `Commands cannot be contained here: ${state.reason}. Programs that do more than read need your approval, and are refused when you are away.`,
    hint: state.hint,
  };
}

export function listPermissions(home: Pick<Home, "path">): readonly ProjectPermissions[] {
  return list(home.path);
}

const FORMS =
  "desktop, audio, gpu, docker, services, ssh-agent, clipboard, read:/path, write:/path, host:NAME[:PORT] or outside:PROGRAM";

function parse(text: string, home: Pick<Home, "env">): Permission {
  const userHome = home.env.HOME ?? homedir();
  const permission = parsePermission(text.replace(/^(read|write):~(?=\/|$)/, `$1:${userHome}`));
  if (!permission) throw new UserError(`${text} is no permission.`, { hint: `Use ${FORMS}.`, exitCode: 2 });
  return permission;
}

/** The permission holds for new conversations in this project. */
export async function grantPermission(
  home: Pick<Home, "path" | "env">,
  project: string,
  text: string,
): Promise<Permission> {
  const permission = parse(text, home);
  await grant(home.path, project, permission);
  return permission;
}

/** False when the project did not have it. */
export function revokePermission(home: Pick<Home, "path" | "env">, project: string, text: string): Promise<boolean> {
  return revoke(home.path, project, parse(text, home));
}
