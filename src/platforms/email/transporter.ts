// Opens nodemailer; the type has only the members that are used.
import type { Readable } from "node:stream";
import type { EmailSettings } from "./settings.ts";

export interface Transporter {
  /** `onTransfer` is called when the server is ready for the content: before that nothing can be delivered. */
  sendMail(mail: { readonly [field: string]: unknown }, onTransfer: () => void): Promise<unknown>;
  verify(): Promise<unknown>;
  close(): void;
}

const TIMEOUT_MS = 30_000;

interface Mail {
  readonly data: { readonly onTransfer?: () => void };
  readonly message: { createReadStream(options?: object): Readable };
}

/** The content is read only after the server has accepted sender and recipients. */
function reportTransfer({ data, message }: Mail, done: () => void): void {
  const open = message.createReadStream.bind(message);
  message.createReadStream = (options) => open(options).once("resume", () => data.onTransfer?.());
  done();
}

/** To other machines the password is sent only over TLS. */
export async function openTransporter(settings: EmailSettings): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  const { smtp, user, password } = settings;
  const transport = createTransport({
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
  });
  transport.use("stream", reportTransfer as unknown as Parameters<typeof transport.use>[1]);
  return {
    sendMail: (mail, onTransfer) => transport.sendMail({ ...mail, onTransfer } as object),
    verify: () => transport.verify(),
    close: () => transport.close(),
  };
}
