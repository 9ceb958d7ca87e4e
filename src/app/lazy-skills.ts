// The door to the skills: their code is loaded at the first use.
import type { SkillService } from "../skills/skill-service.ts";

export class LazySkills {
  readonly #open: () => Promise<SkillService>;
  #opening: Promise<SkillService> | undefined;
  #opened: SkillService | undefined;

  constructor(open: () => Promise<SkillService>) {
    this.#open = open;
  }

  open(): Promise<SkillService> {
    this.#opening ??= this.#open().then((service) => {
      this.#opened = service;
      return service;
    });
    return this.#opening;
  }

  /** Variables that loaded skills pass to a conversation's commands; nothing while no skill was loaded. */
  passthrough(conversationId: string): { readonly [name: string]: string } {
    return this.#opened?.passthrough(conversationId) ?? {};
  }

  /** Files with credentials that they declared. */
  credentialFiles(conversationId: string): readonly string[] {
    return this.#opened?.credentialFiles(conversationId) ?? [];
  }
}
