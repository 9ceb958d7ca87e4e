// Gives the transport a valid token. One process refreshes at a time: servers that rotate refresh tokens accept each once.
import type { AuthProvider } from "@modelcontextprotocol/client";
import type { RemoteOptions } from "../server-options.ts";
import { StoredSignIn } from "./stored-sign-in.ts";
import { TokenFiles } from "./token-files.ts";

export class TokenProvider implements AuthProvider {
  readonly #options: RemoteOptions;
  readonly #signIn: StoredSignIn;
  readonly #files: TokenFiles;

  constructor(options: RemoteOptions, homePath: string) {
    this.#options = options;
    this.#signIn = new StoredSignIn(options, homePath);
    this.#files = new TokenFiles(homePath, options.name);
  }

  async token(): Promise<string | undefined> {
    const tokens = await this.#signIn.tokens();
    if (tokens?.expires_in !== 0) return tokens?.access_token;
    return this.#refresh(tokens.access_token);
  }

  /** The server refused the token before its time. */
  async onUnauthorized(): Promise<void> {
    const tokens = await this.#signIn.tokens();
    await this.#refresh(tokens?.access_token);
  }

  /** Replaces `old`, unless another process has done so meanwhile. */
  #refresh(old: string | undefined): Promise<string | undefined> {
    return this.#files.locked(async () => {
      const stored = await this.#signIn.tokens();
      if (stored && stored.access_token !== old) return stored.access_token;
      const { auth } = await import("@modelcontextprotocol/client");
      await auth(this.#signIn, { serverUrl: this.#options.url });
      return (await this.#signIn.tokens())?.access_token;
    });
  }
}
