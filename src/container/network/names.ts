// The name server of a container: each host name gets an address of the container's loopback network.
import type { Socket } from "node:dgram";
import { lookup } from "node:dns/promises";

const MAX_NAMES = 4_000;
const TYPE_A = 1;
const HEADER = 12;

export interface KnownName {
  readonly name: string;
  /** The address on the real network. */
  readonly target: string;
}

/** Addresses 127.64.0.1 to 127.127.255.254, in order. */
function addressOf(index: number): string {
  return `127.${64 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
}

export class Names {
  readonly #byName = new Map<string, { readonly address: string; target: string }>();
  readonly #byAddress = new Map<string, KnownName>();
  #next = 1;

  at(address: string): KnownName | undefined {
    return this.#byAddress.get(address.replace(/^::ffff:/, ""));
  }

  addresses(): string[] {
    return [...this.#byAddress.keys()];
  }

  /** The container's address of a name; undefined when the name does not exist. */
  async resolve(name: string): Promise<string | undefined> {
    const target = await lookup(name, { family: 0 }).then(
      ({ address }) => address,
      () => undefined,
    );
    if (target === undefined) return undefined;
    const known = this.#byName.get(name);
    const address = known?.address ?? addressOf(this.#next++);
    if (!known && this.#byName.size >= MAX_NAMES) {
      const [oldest] = this.#byName;
      if (oldest) {
        this.#byName.delete(oldest[0]);
        this.#byAddress.delete(oldest[1].address);
      }
    }
    this.#byName.set(name, { address, target });
    this.#byAddress.set(address, { name, target });
    return address;
  }
}

interface Question {
  readonly name: string;
  readonly type: number;
  readonly end: number;
}

/** The first question of a packet; undefined when it is malformed. */
export function parseQuestion(packet: Buffer): Question | undefined {
  if (packet.length < HEADER + 5 || packet.readUInt16BE(4) !== 1 || ((packet[2] ?? 0) & 0x80) !== 0) return undefined;
  const labels: string[] = [];
  let at = HEADER;
  for (;;) {
    const length = packet[at];
    if (length === undefined || length > 63 || at + length + 1 >= packet.length) return undefined;
    if (length === 0) break;
    labels.push(packet.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  if (at + 5 > packet.length) return undefined;
  return { name: labels.join(".").toLowerCase(), type: packet.readUInt16BE(at + 1), end: at + 5 };
}

/** `address`: undefined for an unknown name, null for a name without an address of the asked kind. */
export function buildAnswer(packet: Buffer, question: Question, address: string | null | undefined): Buffer {
  const head = Buffer.from(packet.subarray(0, question.end));
  head.writeUInt16BE(address === undefined ? 0x8183 : 0x8180, 2);
  head.writeUInt16BE(address ? 1 : 0, 6);
  head.writeUInt32BE(0, 8);
  if (!address) return head;
  const record = Buffer.from([0xc0, HEADER, 0, TYPE_A, 0, 1, 0, 0, 0, 30, 0, 4, ...address.split(".").map(Number)]);
  return Buffer.concat([head, record]);
}

/** Answers questions until the socket closes. `onName` is awaited before the answer. */
export function serveNames(socket: Socket, names: Names, onName: (address: string) => Promise<void>): void {
  const answer = async (packet: Buffer, from: { address: string; port: number }) => {
    const question = parseQuestion(packet);
    if (!question) return;
    const found = /^[\w.-]{1,253}$/.test(question.name) ? await names.resolve(question.name) : undefined;
    if (found !== undefined) await onName(found);
    const address = found === undefined ? undefined : question.type === TYPE_A ? found : null;
    socket.send(buildAnswer(packet, question, address), from.port, from.address);
  };
  socket.on("message", (packet, from) => void answer(packet, from).catch(() => undefined));
  socket.on("error", () => undefined);
}
