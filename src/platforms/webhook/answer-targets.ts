// Targets of answers to deliveries without a chat: stored until the answer is sent; only the newest ones.
import type { PlatformContext } from "../../core/chat/platform.ts";
import { rememberNewest } from "../../lib/remember-newest.ts";

const KEY = "answer_places";
/** Far more than the number of deliveries that wait for an answer at the same time. */
const MAX_TARGETS = 500;

export type AnswerTarget = { readonly [key: string]: string };

export class AnswerTargets {
  readonly #memory: PlatformContext["memory"];
  #loaded: Promise<Map<string, AnswerTarget>> | undefined;

  constructor(memory: PlatformContext["memory"]) {
    this.#memory = memory;
  }

  #load(): Promise<Map<string, AnswerTarget>> {
    this.#loaded ??= this.#memory
      .get(KEY)
      .then((text) => new Map(text === null ? [] : (JSON.parse(text) as [string, AnswerTarget][])))
      .catch((error: unknown) => {
        // The next delivery retries.
        this.#loaded = undefined;
        throw error;
      });
    return this.#loaded;
  }

  /** Resolves when it is stored. */
  async store(chatId: string, target: AnswerTarget): Promise<void> {
    const targets = await this.#load();
    rememberNewest(targets, chatId, target, MAX_TARGETS);
    await this.#memory.set(KEY, JSON.stringify([...targets]));
  }

  async find(chatId: string): Promise<AnswerTarget | undefined> {
    return (await this.#load()).get(chatId) ?? this.#older(chatId);
  }

  /** Earlier versions stored each target in its own row. */
  async #older(chatId: string): Promise<AnswerTarget | undefined> {
    const text = await this.#memory.get(chatId);
    return text === null ? undefined : (JSON.parse(text) as { extra: AnswerTarget }).extra;
  }
}
