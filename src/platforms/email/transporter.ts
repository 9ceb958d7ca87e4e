// The part of nodemailer that is used, and how it is opened.
import type { Readable } from "node:stream";
import type { EmailSettings } from "./settings.ts";

export interface Transporter {
  /** `onLeaving` is called when the server is ready for the letter itself: before that nothing can be delivered. */
  sendMail(mail: { readonly [field: string]: unknown }, onLeaving: () => void): Promise<unknown>;
  verify(): Promise<unknown>;
  close(): void;
}

const TIMEOUT_MS = 30_000;

interface Mail {
  readonly data: { readonly onLeaving?: () => void };
  readonly message: { createReadStream(options?: object): Readable };
}

/** The stream of a letter begins to flow when the server has accepted sender and receivers. */
function tellLeaving({ data, message }: Mail, done: () => void): void {
  const open = message.createReadStream.bind(message);
  message.createReadStream = (options) => open(options).once("resume", () => data.onLeaving?.());
  done();
}

/** Outside this machine the password is sent only after TLS stands. */
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
  transport.use("stream", tellLeaving as unknown as Parameters<typeof transport.use>[1]);
  return {
    sendMail: (mail, onLeaving) => transport.sendMail({ ...mail, onLeaving } as object),
    verify: () => transport.verify(),
    close: () => transport.close(),
  };
}
