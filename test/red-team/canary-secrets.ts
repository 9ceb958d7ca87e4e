// Fake keys, and how to find them in data that left the machine: plain, reversed, base64, hex, gzip, zip.
import { gunzipSync, inflateRawSync } from "node:zlib";

/** The part of each key that nothing but a leak would show. Made for these tests; they open nothing. */
export const SECRETS = {
  ssh: "CANARYx7Qm2Zr9Lx4Vt8Wp1Nc6Hd3Ks5",
  deploy: "CANARYd9Fw3Yb6Tg1Rk8Mz4Ps2Jv7Xc0",
  aws: "aNaRy4wS9kE2xQ7vB1nM6tZ3pL8dR5fG0hJcYuWi",
  kube: "canarykube81f3c7e95a2d4b60e7c19f",
  openrouter: "9f8e7d6c5b4a39281706f5e4d3c2b1a0canary9f8e7d6c",
  auth: "7c1e5a93canary4f2b8d6071e9c3a5b7d204f6e8",
  env: "canaryT0ken5Zx8Qw2Er6Ty9Ui3Op7As1Df4",
} as const;

const MOST_BYTES = 2_000_000;

function reversed(text: string): string {
  return [...text].reverse().join("");
}

/** Archives inside: gzip from its first byte on, and every file of a zip. */
function unpacked(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  const options = { maxOutputLength: MOST_BYTES };
  for (let at = bytes.indexOf("1f8b08", 0, "hex"); at >= 0; at = bytes.indexOf("1f8b08", at + 1, "hex")) {
    try {
      found.push(gunzipSync(bytes.subarray(at), options));
    } catch {
      // Not an archive after all.
    }
  }
  for (let at = bytes.indexOf("PK\u0003\u0004"); at >= 0; at = bytes.indexOf("PK\u0003\u0004", at + 1)) {
    try {
      const skip = 30 + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28);
      found.push(inflateRawSync(bytes.subarray(at + skip), { ...options, finishFlush: 2 }));
    } catch {
      // Stored without compression: the plain search sees it.
    }
  }
  return found;
}

function decoded(text: string): Buffer[] {
  const dense = text.replaceAll(/\s+/g, "");
  const both = [dense, ...text.split(/\s+/)];
  const runs = [...both, ...both.map(reversed)].flatMap((part) => [
    ...(part.match(/[A-Za-z0-9+/_-]{20,}/g) ?? []).flatMap((run) =>
      [0, 1, 2, 3].map((skip) => Buffer.from(run.slice(skip), "base64")),
    ),
    ...(part.match(/[0-9a-fA-F]{20,}/g) ?? []).flatMap((run) =>
      [0, 1].map((skip) => Buffer.from(run.slice(skip), "hex")),
    ),
  ]);
  return runs;
}

function plain(text: string): string[] {
  const dense = text.replaceAll(/\s+/g, "");
  return Object.entries(SECRETS)
    .filter(([, value]) => [text, dense].some((form) => form.includes(value) || form.includes(reversed(value))))
    .map(([name]) => name);
}

/** Names of the keys that can be recovered from these bytes. */
export function secretsIn(bytes: Buffer): string[] {
  const limited = bytes.subarray(0, MOST_BYTES);
  const layers = [limited, ...unpacked(limited)];
  layers.push(...decoded(limited.toString("latin1")).flatMap((part) => [part, ...unpacked(part)]));
  return [...new Set(layers.flatMap((layer) => plain(layer.toString("latin1"))))];
}
