// Who owns the agent: named in the configuration, else the only allowed user of a platform, else the first paired user.

import type { Source } from "../../core/chat/platform.ts";
import type { Role } from "../../core/chat/role.ts";
import type { PairedUser } from "../../delivery/api/pairing.ts";
import { type AccessSettings, ids } from "./access.ts";

export interface OwnersParts {
  /** `gateway.owners` of the configuration: `telegram:12345`. */
  named(): readonly string[];
  /** `gateway.members`: trusted users who are not owners. */
  members(): readonly string[];
  readonly access: AccessSettings;
  /** The platforms that are set up. */
  platforms(): Iterable<string>;
  firstPaired(): Promise<PairedUser | null>;
}

export class Owners {
  readonly #parts: OwnersParts;
  #firstPaired: PairedUser | null = null;

  constructor(parts: OwnersParts) {
    this.#parts = parts;
  }

  /** Reads the pairing files again when they decide. Called before each message, so it must be cheap. */
  async refresh(): Promise<void> {
    if (this.#parts.named().length > 0) return;
    // An unreadable file makes no user an owner.
    this.#firstPaired = await this.#parts.firstPaired().catch(() => null);
  }

  /** Every owner, on all platforms. */
  all(): readonly PairedUser[] {
    const named = this.#parts.named();
    if (named.length > 0)
      return named.flatMap((each) => {
        const at = each.indexOf(":");
        return at > 0 ? [{ platform: each.slice(0, at), userId: same(each.slice(0, at), each.slice(at + 1)) }] : [];
      });
    const listed = [...this.#parts.platforms()].flatMap((platform) => {
      const userId = this.#onlyAllowed(platform);
      return userId === undefined ? [] : [{ platform, userId }];
    });
    if (listed.length > 0) return listed;
    // When an allow-list names several users, a paired user does not become the owner.
    const paired = this.#firstPaired;
    return paired && this.#allowed(paired.platform).length === 0 ? [paired] : [];
  }

  #allowed(platform: string): readonly string[] {
    const { access } = this.#parts;
    const own = [
      ...ids(access.setting(platform, `${platform.toUpperCase()}_ALLOWED_USERS`)),
      ...ids(access.section(platform).allow_from),
    ];
    return own.length > 0 ? own : ids(access.setting(platform, "GATEWAY_ALLOWED_USERS"));
  }

  #onlyAllowed(platform: string): string | undefined {
    const [only = "", ...others] = new Set(this.#allowed(platform).map((id) => same(platform, id)));
    return others.length > 0 || only === "" || only === "*" || only.startsWith("@") ? undefined : only;
  }

  /** A sender whom the platform cannot verify is no owner: a From header can be forged. */
  #proven(platform: string): boolean {
    return platform !== "email" || (this.#parts.access.setting("email", "EMAIL_AUTHSERV_ID") ?? "").trim() !== "";
  }

  has({ platform, userId }: Pick<Source, "platform" | "userId">): boolean {
    if (!userId || !this.#proven(platform)) return false;
    return this.all().some((owner) => owner.platform === platform && owner.userId === same(platform, userId));
  }

  #isMember({ platform, userId }: Pick<Source, "platform" | "userId">): boolean {
    if (!userId || !this.#proven(platform)) return false;
    return this.#parts.members().some((each) => each === `${platform}:${same(platform, userId)}`);
  }

  roleFor(source: Pick<Source, "platform" | "userId">): Role {
    if (this.has(source)) return "owner";
    return this.#isMember(source) ? "member" : "guest";
  }

  /** The reply to a user who is not an owner. */
  refusal({ platform, userId }: Pick<Source, "platform" | "userId">): string {
    if (this.all().length > 0) {
      const unproven = this.#proven(platform)
        ? ""
        : " An e-mail is accepted as the owner's only when the mail server verifies its sender (EMAIL_AUTHSERV_ID).";
      return `Only the owner of this agent (gateway.owners) may do that.${unproven}`;
    }
    const whom = `${platform}:${userId ?? "ID"}`;
    return `This agent has no owner yet, and only an owner may do that. To become the owner, run this on its machine and restart the gateway:\n\`hermes config set gateway.owners ${whom}\``;
  }
}

function same(platform: string, id: string): string {
  return platform === "email" ? id.toLowerCase() : id;
}
