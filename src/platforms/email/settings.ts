// The settings of the e-mail platform, read once per connection.
import type { PlatformContext, PlatformSetting } from "../../core/chat/platform.ts";
import { isLoopback } from "../http/guards.ts";

export const EMAIL_SETTINGS: readonly PlatformSetting[] = [
  { env: "EMAIL_ADDRESS", key: "address", description: "The agent's own address", required: true },
  { env: "EMAIL_PASSWORD", key: "password", description: "Password of the mailbox", secret: true, required: true },
  { env: "EMAIL_USERNAME", key: "username", description: "Name to sign in with (the address)" },
  { env: "EMAIL_IMAP_HOST", key: "imap_host", description: "Server to read from", required: true },
  { env: "EMAIL_IMAP_PORT", key: "imap_port", description: "Its port (993)" },
  { env: "EMAIL_SMTP_HOST", key: "smtp_host", description: "Server to send through", required: true },
  { env: "EMAIL_SMTP_PORT", key: "smtp_port", description: "Its port (587)" },
  { env: "EMAIL_FOLDER", key: "folder", description: "Folder to read (INBOX)" },
  { env: "EMAIL_POLL_INTERVAL", key: "poll_interval", description: "Seconds between two checks (15)" },
  { env: "EMAIL_ALLOWED_USERS", key: "allow_from", description: "Addresses or @domains that may write" },
  { env: "EMAIL_ALLOW_ALL_USERS", key: "allow_all_users", description: "Any address may write (false)" },
  {
    env: "EMAIL_AUTHSERV_ID",
    key: "authserv_id",
    description: "Name of your mail server in Authentication-Results; then unverified senders are ignored",
  },
];

interface Server {
  readonly host: string;
  readonly port: number;
  /** Implicit TLS, without STARTTLS. */
  readonly tls: boolean;
  /** Passwords are sent without TLS only on this machine. */
  readonly plain: boolean;
}

export interface EmailSettings {
  readonly address: string;
  readonly user: string;
  readonly password: string;
  readonly imap: Server;
  readonly smtp: Server;
  readonly folder: string;
  readonly pollMs: number;
  readonly allowed: readonly string[];
  readonly authserv: string;
}

function number(text: string | undefined, fallback: number): number {
  const value = Number(text);
  return text !== undefined && Number.isFinite(value) && value > 0 ? value : fallback;
}

function isOn(value: string | undefined): boolean {
  return ["1", "true", "yes", "on"].includes((value ?? "").trim().toLowerCase());
}

function parseList(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((item) => item.trim().toLowerCase())
    .filter((item) => item !== "");
}

export function readSettings({ setting }: Pick<PlatformContext, "setting">): EmailSettings {
  const server = (name: string, port: number, tlsPort: number): Server => {
    const host = setting(`EMAIL_${name}_HOST`) ?? "";
    const chosen = number(setting(`EMAIL_${name}_PORT`), port);
    return { host, port: chosen, tls: chosen === tlsPort, plain: isLoopback(host) };
  };
  const address = (setting("EMAIL_ADDRESS") ?? "").trim().toLowerCase();
  const allowAll = isOn(setting("EMAIL_ALLOW_ALL_USERS")) || isOn(setting("GATEWAY_ALLOW_ALL_USERS"));
  return {
    address,
    user: setting("EMAIL_USERNAME") || address,
    password: setting("EMAIL_PASSWORD") ?? "",
    imap: server("IMAP", 993, 993),
    smtp: server("SMTP", 587, 465),
    folder: setting("EMAIL_FOLDER") || "INBOX",
    pollMs: number(setting("EMAIL_POLL_INTERVAL"), 15) * 1000,
    allowed: allowAll
      ? ["*"]
      : [...parseList(setting("EMAIL_ALLOWED_USERS")), ...parseList(setting("GATEWAY_ALLOWED_USERS"))],
    authserv: (setting("EMAIL_AUTHSERV_ID") ?? "").trim().toLowerCase(),
  };
}
