// One container for all conversations of a program: each has its own handle, and the last one out closes the door.
import type { RemoteChannel } from "./remote-command.ts";

export class SharedChannel {
  readonly #channel: RemoteChannel;
  #users = 0;
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(channel: RemoteChannel) {
    this.#channel = channel;
  }

  /** Counted before the first wait: who is on the way in keeps the door open. */
  async #enter(): Promise<void> {
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

  async #leave(): Promise<void> {
    if (--this.#users > 0) return;
    this.#opening = undefined;
    this.#closing = this.#channel.close();
    await this.#closing;
  }

  /** For one conversation. */
  handle(): RemoteChannel {
    const channel = this.#channel;
    let entering: Promise<void> | undefined;
    return {
      name: channel.name,
      place: channel.place,
      clientEnv: channel.clientEnv,
      available: () => channel.available(),
      argv: (script) => channel.argv(script),
      open: () => {
        entering ??= this.#enter().catch((error) => {
          entering = undefined;
          throw error;
        });
        return entering;
      },
      close: async () => {
        if (!entering) return;
        entering = undefined;
        await this.#leave();
      },
    };
  }
}
