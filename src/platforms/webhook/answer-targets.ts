// Targets of answers to deliveries without a chat: stored until the answer is sent; only the newest ones.
import type { PlatformContext } from "../../core/platform.ts";
import { rememberNewest } from "../../lib/remember-newest.ts";

const KEY = "answer_places";
/** Far more than the number of deliveries that wait for an answer at the same time. */
const MOST = 500;

export type AnswerTarget = { readonly [key: string]: string };

export class AnswerTargets {
  readonly #memory: PlatformContext["memory"];
  #kept: Promise<Map<string, AnswerTarget>> | undefined;

  constructor(memory: PlatformContext["memory"]) {
    this.#memory = memory;
  }

  #load(): Promise<Map<string, AnswerTarget>> {
    this.#kept ??= this.#memory
      .get(KEY)
      .then((text) => new Map(text === null ? [] : (JSON.parse(text) as [string, AnswerTarget][])))
      .catch((error: unknown) => {
        // The next delivery retries.
        this.#kept = undefined;
        throw error;
      });
    return this.#kept;
  }

  /** Resolves when it is stored. */
  async keep(chatId: string, place: AnswerTarget): Promise<void> {
    const kept = await this.#load();
    rememberNewest(kept, chatId, place, MOST);
    await this.#memory.set(KEY, JSON.stringify([...kept]));
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
