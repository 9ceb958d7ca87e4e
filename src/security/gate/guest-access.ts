// What the gate asks about intents of guests: more effects for commands, and which files of the home they may use.
import type { Intent } from "../../core/gate.ts";
import { expandHome, isBelow, realPathOf } from "../real-path.ts";
import type { Analysis, Effect } from "./effects.ts";
import { type GuestWorld, guestCommandEffects, guestProgramEffects, isAbove, isForbidden } from "./guest.ts";

export type ExecutionIntent = Extract<Intent, { kind: "command" | "code" | "input" }>;
export type PathIntent = Extract<Intent, { kind: "read" | "write" }>;

export class GuestAccess {
  readonly #homes: { readonly userHome: string; readonly hermesHome: string };

  constructor(homes: { readonly userHome: string; readonly hermesHome: string }) {
    this.#homes = homes;
  }

  /** Effects that count only because a guest asks. */
  async effects(intent: ExecutionIntent, { invocations, readable }: Analysis): Promise<Effect[]> {
    const host = await this.#host(intent.cwd);
    if (intent.kind === "command")
      return guestCommandEffects({ text: intent.command, cwd: intent.cwd, invocations, readable }, host);
    return guestProgramEffects(intent.kind === "code" ? intent.code : intent.text, intent.cwd, host);
  }

  async isInHome(intent: PathIntent): Promise<boolean> {
    const { hermesHome, realHome } = await this.#host(intent.cwd);
    const path = await this.#realPath(intent);
    return isBelow(hermesHome, path) || isBelow(realHome, path);
  }

  /** Files in the home of Hermes are the owner's; so is a search in a folder that contains it. */
  async refusedPath(intent: PathIntent, toolName: string): Promise<Effect | undefined> {
    const host = await this.#host(intent.cwd);
    const path = await this.#realPath(intent);
    const above = toolName === "search_files" && isAbove(path, host);
    if (!above && !isForbidden(path, host)) return undefined;
    const reason = above
      ? `${path} contains the home of Hermes, which is the owner's; name a folder inside it`
      : `${path} is in the home of Hermes, which is the owner's`;
    const category = intent.kind === "write" ? "protected_file" : "credentials";
    return { rule: "guest_home", category, level: "dangerous", reason, targets: [path] };
  }

  #realPath(intent: PathIntent): Promise<string> {
    return realPathOf(expandHome(intent.path.trim(), this.#homes.userHome), intent.cwd);
  }

  async #host(cwd: string): Promise<GuestWorld> {
    return { ...this.#homes, cwd, realHome: await realPathOf(this.#homes.hermesHome, "/") };
  }
}
