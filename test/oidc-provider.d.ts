// The part of `oidc-provider` that tests use; the package has no types.
declare module "oidc-provider" {
  import type { RequestListener } from "node:http";
  // biome-ignore lint/style/noDefaultExport: the package has this export.
  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
    on(event: string, listener: (ctx: never) => void): void;
    readonly AccessToken: { find(token: string): Promise<{ readonly isValid: boolean } | undefined> };
  }
}
