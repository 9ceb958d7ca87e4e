// The stored sign-in of a remote server, as the client library asks for it. Without a browser it can only refresh.
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { RemoteOptions } from "../server-options.ts";
import { TokenFiles } from "./token-files.ts";

/** A token is refreshed this long before it expires. */
const EARLY_S = 60;

export class StoredSignIn implements OAuthClientProvider {
  protected readonly options: RemoteOptions;
  protected readonly files: TokenFiles;
  #verifier: string | undefined;

  constructor(options: RemoteOptions, homePath: string) {
    this.options = options;
    this.files = new TokenFiles(homePath, options.name);
  }

  get redirectUrl(): string | undefined {
    return `http://127.0.0.1:${this.options.oauth?.redirectPort || 0}/callback`;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { oauth } = this.options;
    return {
      client_name: oauth?.clientName ?? "Hermes Agent",
      redirect_uris: this.redirectUrl ? [this.redirectUrl] : [],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: oauth?.clientSecret ? "client_secret_post" : "none",
      ...(oauth?.scope ? { scope: oauth.scope } : {}),
    };
  }

  async clientInformation(): Promise<StoredOAuthClientInformation | undefined> {
    const { clientId, clientSecret } = this.options.oauth ?? {};
    if (clientId) return { client_id: clientId, ...(clientSecret ? { client_secret: clientSecret } : {}) };
    return (await this.files.read("client")) as StoredOAuthClientInformation | undefined;
  }

  saveClientInformation(information: StoredOAuthClientInformation): Promise<void> {
    return this.files.write("client", information);
  }

  /** Expired tokens are reported with no time left, so that the library refreshes them. */
  async tokens(): Promise<StoredOAuthTokens | undefined> {
    const stored = await this.files.read("tokens");
    if (typeof stored?.access_token !== "string") return undefined;
    const { expires_at: at, ...tokens } = stored as { expires_at?: unknown };
    if (typeof at !== "number") return tokens as StoredOAuthTokens;
    const left = Math.max(0, Math.floor(at - Date.now() / 1000) - EARLY_S);
    return { ...tokens, expires_in: left } as unknown as StoredOAuthTokens;
  }

  /** An answer without a refresh token keeps the one that is stored. */
  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    const stored = await this.files.read("tokens");
    const expires = tokens.expires_in === undefined ? {} : { expires_at: Date.now() / 1000 + tokens.expires_in };
    const refresh = tokens.refresh_token ?? stored?.refresh_token;
    await this.files.write("tokens", { ...tokens, ...expires, ...(refresh ? { refresh_token: refresh } : {}) });
  }

  saveDiscoveryState(state: OAuthDiscoveryState): Promise<void> {
    return this.files.write("meta", state);
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    return (await this.files.read("meta")) as OAuthDiscoveryState | undefined;
  }

  redirectToAuthorization(_url: URL): void | Promise<void> {
    throw new Error(`401: sign in with: hermes mcp login ${this.options.name}`);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    if (this.#verifier === undefined) throw new Error("no sign-in has begun");
    return this.#verifier;
  }

  async invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    if (scope === "all" || scope === "client") await this.files.remove("client");
    if (scope === "all" || scope === "tokens") await this.files.remove("tokens");
    if (scope === "all" || scope === "discovery") await this.files.remove("meta");
    if (scope === "all" || scope === "verifier") this.#verifier = undefined;
  }
}
