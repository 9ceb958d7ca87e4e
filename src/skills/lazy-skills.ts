// The skills of the home, loaded at the first use.
import { lazy } from "../lib/async/lazy.ts";
import type { SkillService } from "./skill-service.ts";

export class LazySkills {
  #open: () => Promise<SkillService> = async () => {
    throw new Error("Skills were used before the program was open.");
  };
  #opened: SkillService | undefined;

  /** Must be called before the first use. */
  loadWith(load: () => Promise<SkillService>): void {
    this.#open = lazy(async () => {
      this.#opened = await load();
      return this.#opened;
    });
  }

  open(): Promise<SkillService> {
    return this.#open();
  }

  /** Variables that the loaded skills pass to the commands of a conversation. */
  passthrough(conversationId: string): { readonly [name: string]: string } {
    return this.#opened?.passthrough(conversationId) ?? {};
  }

  /** Credential files that the loaded skills declare. */
  credentialFiles(conversationId: string): readonly string[] {
    return this.#opened?.credentialFiles(conversationId) ?? [];
  }
}
