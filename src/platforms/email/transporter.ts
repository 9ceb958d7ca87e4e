// The part of nodemailer that is used, and how it is opened.
import type { EmailSettings } from "./settings.ts";

export interface Transporter {
  sendMail(mail: { readonly [field: string]: unknown }): Promise<unknown>;
  verify(): Promise<unknown>;
  close(): void;
}

const TIMEOUT_MS = 30_000;

/** Outside this machine the password is sent only after TLS stands. */
export async function openTransporter(settings: EmailSettings): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  const { smtp, user, password } = settings;
  return createTransport({
    host: smtp.host,
    port: smtp.port,
    secure: smtp.tls,
    ...(smtp.tls ? {} : smtp.plain ? {} : { requireTLS: true }),
    auth: { user, pass: password },
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: 2 * TIMEOUT_MS,
    disableFileAccess: false,
    disableUrlAccess: true,
  }) as unknown as Transporter;
}
