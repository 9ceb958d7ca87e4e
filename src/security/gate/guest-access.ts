// Extra checks for guests: additional effects of commands, and which files of the home they may use.
import type { Intent } from "../../core/gate.ts";
import { isUserWorkspace } from "../../core/user-workspace.ts";
import { expandHome, isBelow, resolveRealPath } from "../real-path.ts";
import type { Analysis, Effect } from "./effects.ts";
import { type GuestEnvironment, guestCommandEffects, guestProgramEffects, isAbove, isForbidden } from "./guest.ts";

export type ExecutionIntent = Extract<Intent, { kind: "command" | "code" | "input" }>;
export type PathIntent = Extract<Intent, { kind: "read" | "write" }>;

export class GuestAccess {
  readonly #homes: { readonly userHome: string; readonly hermesHome: string };

  constructor(homes: { readonly userHome: string; readonly hermesHome: string }) {
    this.#homes = homes;
  }

  /** Effects that apply to guests only. */
  async effects(intent: ExecutionIntent, { invocations, readable }: Analysis, workspace?: string): Promise<Effect[]> {
    const host = await this.#host(intent.cwd, workspace);
    if (intent.kind === "command")
      return guestCommandEffects({ text: intent.command, cwd: intent.cwd, invocations, readable }, host);
    return guestProgramEffects(intent.kind === "code" ? intent.code : intent.text, intent.cwd, host);
  }

  async isInHome(intent: PathIntent): Promise<boolean> {
    const { hermesHome, realHome } = await this.#host(intent.cwd);
    const path = await this.#realPath(intent);
    return isBelow(hermesHome, path) || isBelow(realHome, path);
  }

  /** Guests may not use files in Hermes' home, nor search a folder that contains it. */
  async refusedPath(intent: PathIntent, toolName: string, workspace?: string): Promise<Effect | undefined> {
    const host = await this.#host(intent.cwd, workspace);
    const path = await this.#realPath(intent);
    const above = toolName === "search_files" && isAbove(path, host);
    if (!above && !isForbidden(path, host)) return undefined;
    const reason = above
      ? `${path} contains the home of Hermes, which belongs to the owner; name a folder inside it`
      : `${path} is in the home of Hermes, which belongs to the owner`;
    const category = intent.kind === "write" ? "protected_file" : "credentials";
    return { rule: "guest_home", category, level: "dangerous", reason, targets: [path] };
  }

  #realPath(intent: PathIntent): Promise<string> {
    return resolveRealPath(expandHome(intent.path.trim(), this.#homes.userHome), intent.cwd);
  }

  async #host(cwd: string, workspace?: string): Promise<GuestEnvironment> {
    const { hermesHome } = this.#homes;
    const realHome = await resolveRealPath(hermesHome, "/");
    const own =
      workspace && isUserWorkspace(hermesHome, workspace) ? [workspace, await resolveRealPath(workspace, "/")] : [];
    return { ...this.#homes, cwd, realHome, ownFolders: own };
  }
}
