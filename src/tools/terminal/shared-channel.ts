// Shares one container between conversations: each has a handle, and closing the last one stops the container.
import type { RemoteChannel } from "./remote-command.ts";

export class SharedChannel {
  readonly #channel: RemoteChannel;
  #users = 0;
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(channel: RemoteChannel) {
    this.#channel = channel;
  }

  /** Counts the conversation before waiting, so that a concurrent close does not stop the container. */
  async #acquire(): Promise<void> {
    this.#users++;
    try {
      await this.#closing;
      this.#opening ??= this.#channel.open();
      await this.#opening;
    } catch (error) {
      this.#users--;
      this.#opening = undefined;
      throw error;
    }
  }

  async #release(): Promise<void> {
    if (--this.#users > 0) return;
    this.#opening = undefined;
    this.#closing = this.#channel.close();
    await this.#closing;
  }

  /** A channel for one conversation. */
  handle(): RemoteChannel {
    const channel = this.#channel;
    let opening: Promise<void> | undefined;
    return {
      name: channel.name,
      label: channel.label,
      clientEnv: channel.clientEnv,
      available: () => channel.available(),
      argv: (script) => channel.argv(script),
      open: () => {
        opening ??= this.#acquire().catch((error) => {
          opening = undefined;
          throw error;
        });
        return opening;
      },
      close: async () => {
        if (!opening) return;
        opening = undefined;
        await this.#release();
      },
    };
  }
}
