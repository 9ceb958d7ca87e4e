// Real mail servers on loopback for tests: Dovecot for IMAP, aiosmtpd for SMTP, one Maildir per user.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../kit/free-port.ts";
import { tempDir } from "../kit/temp-dir.ts";

const NOBODY = 65_534;
const PASSWORD = "mail-password";
const PYTHON = "/usr/bin/python3";
const DOVECOT = "/usr/sbin/dovecot";

export interface MailServers {
  readonly imapPort: number;
  readonly smtpPort: number;
  readonly password: string;
  /** Messages that were delivered to a user, oldest first. */
  inboxOf(name: string): string[];
  /** From now on a copy of each e-mail that the user sends is stored in a folder. */
  keepSent(name: string): Promise<void>;
  /** How many IMAP sessions are open. */
  signedIn(): number;
  stopImap(): Promise<void>;
  startImap(): Promise<void>;
  close(): Promise<void>;
}

/** Why the servers cannot run here; undefined when they can. */
export function mailServersMissing(): string | undefined {
  if (!existsSync(DOVECOT)) return "dovecot is not installed (Debian: dovecot-imapd)";
  const python = spawnSync(PYTHON, ["-c", "import aiosmtpd"]);
  return python.status === 0 ? undefined : "aiosmtpd is not installed (Debian: python3-aiosmtpd)";
}

function dovecotConfig(dir: string, port: number, people: readonly string[]): string {
  const root = process.getuid?.() === 0;
  const me = userInfo();
  const internal = root ? "" : `default_internal_user = ${me.username}\ndefault_login_user = ${me.username}\n`;
  const [uid, gid] = root ? [NOBODY, NOBODY] : [me.uid, me.gid];
  writeFileSync(join(dir, "passwd"), people.map((name) => `${name}@mail.test:{PLAIN}${PASSWORD}\n`).join(""));
  chmodSync(join(dir, "passwd"), 0o644);
  return `
base_dir = ${dir}/run
state_dir = ${dir}/state
instance_name = hermes-test
log_path = ${dir}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
${internal}first_valid_uid = 1
last_valid_uid = 0
mail_location = maildir:~/Maildir
mailbox_idle_check_interval = 1 secs
passdb {
  driver = passwd-file
  args = username_format=%u ${dir}/passwd
}
userdb {
  driver = static
  args = uid=${uid} gid=${gid} home=${dir}/mail/%n
}
service imap-login {
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
  ${root ? "" : "chroot ="}
}
service anvil {
  ${root ? "" : "chroot ="}
}
service stats {
  ${root ? "" : "chroot ="}
}
namespace inbox {
  inbox = yes
}
`;
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once("exit", () => resolve()));
}

/** Dovecot starts a child process named `imap` for each session. */
function imapSessions(master: number | undefined): number {
  if (master === undefined) return 0;
  const listed = spawnSync("ps", ["--ppid", String(master), "-o", "comm="], { encoding: "utf8" });
  return listed.stdout.split("\n").filter((name) => name.trim() === "imap").length;
}

async function answers(port: number): Promise<void> {
  const { connect } = await import("node:net");
  for (let tries = 0; tries < 200; tries++) {
    const greeted = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("data", () => resolve(true));
      socket.once("error", () => resolve(false));
      socket.once("close", () => resolve(false));
      setTimeout(() => socket.destroy(), 1000).unref();
    });
    if (greeted) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the IMAP server did not start");
}

/** `people` are the local parts of addresses at mail.test. */
export async function startMailServers(people: readonly string[]): Promise<MailServers> {
  const dir = tempDir("hermes-mail-");
  chmodSync(dir, 0o755);
  for (const name of ["run", "state", "mail", ...people.map((person) => `mail/${person}`)]) {
    mkdirSync(join(dir, name), { recursive: true });
    if (name.startsWith("mail") && process.getuid?.() === 0) chownSync(join(dir, name), NOBODY, NOBODY);
  }
  const imapPort = await freePort();
  const config = join(dir, "dovecot.conf");
  writeFileSync(config, dovecotConfig(dir, imapPort, people));
  let dovecot: ChildProcess | undefined;
  const startImap = async () => {
    // In its own group: otherwise the processes that serve clients would outlive their master.
    dovecot = spawn(DOVECOT, ["-F", "-c", config], { stdio: "ignore", detached: true });
    await answers(imapPort).catch((error: Error) => {
      throw new Error(`${error.message}: ${readFileSync(join(dir, "dovecot.log"), "utf8")}`);
    });
  };
  const stopImap = async () => {
    if (!dovecot) return;
    if (dovecot.pid !== undefined) process.kill(-dovecot.pid, "SIGKILL");
    await ended(dovecot);
    dovecot = undefined;
  };
  await startImap();
  const script = join(dirname(dirname(fileURLToPath(import.meta.url))), "fixtures", "mail", "smtpd.py");
  const source = join(dir, "smtpd.py");
  writeFileSync(source, readFileSync(script));
  const smtp = spawn(PYTHON, [source, join(dir, "mail"), PASSWORD, String(NOBODY)], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const smtpPort = await new Promise<number>((resolve, reject) => {
    smtp.stdout?.once("data", (chunk: Buffer) => resolve(Number(chunk.toString())));
    smtp.once("exit", () => reject(new Error("the SMTP server did not start")));
  });
  return {
    imapPort,
    smtpPort,
    password: PASSWORD,
    inboxOf: (name) =>
      ["new", "cur"]
        .flatMap((folder) => {
          const path = join(dir, "mail", name, "Maildir", folder);
          return existsSync(path) ? readdirSync(path).map((file) => join(path, file)) : [];
        })
        // The file name has the fraction of a second without leading zeros.
        .sort((a, b) => basename(a).localeCompare(basename(b), undefined, { numeric: true }))
        .map((path) => readFileSync(path, "utf8")),
    keepSent: async (name) => {
      const { ImapFlow } = await import("imapflow");
      const auth = { user: `${name}@mail.test`, pass: PASSWORD };
      const client = new ImapFlow({ host: "127.0.0.1", port: imapPort, secure: false, auth, logger: false });
      await client.connect();
      await client.mailboxCreate("Sent");
      await client.logout();
    },
    signedIn: () => imapSessions(dovecot?.pid),
    startImap,
    stopImap,
    close: async () => {
      smtp.kill("SIGTERM");
      await Promise.all([ended(smtp), stopImap()]);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
