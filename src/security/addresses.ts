// Classifies network addresses: public, private, or a cloud metadata service, which must never be contacted.
import { BlockList, isIP } from "node:net";

export type AddressClass = "public" | "private" | "metadata";

const METADATA_HOSTS = new Set([
  "metadata.google.internal",
  "metadata.goog",
  "metadata",
  "instance-data",
  "instance-data.ec2.internal",
]);

const metadata = new BlockList();
metadata.addSubnet("169.254.0.0", 16, "ipv4");
metadata.addAddress("100.100.100.200", "ipv4");
metadata.addAddress("192.0.0.192", "ipv4");
metadata.addAddress("fd00:ec2::254", "ipv6");

const reserved = new BlockList();
// Data table: special-purpose IPv4 ranges.
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const)
  reserved.addSubnet(network, bits, "ipv4");
for (const [network, bits] of [
  ["::", 128],
  ["::1", 128],
  ["100::", 64],
  ["2001:db8::", 32],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const)
  reserved.addSubnet(network, bits, "ipv6");

/** The eight groups of an IPv6 address as numbers. */
function parseGroups(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const text = dotted ? `${dotted[1]}${hexPair(dotted[2], dotted[3])}:${hexPair(dotted[4], dotted[5])}` : address;
  const [head = "", tail] = text.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array.from({ length: Math.max(0, gap) }, () => "0"), ...right].map((group) =>
    Number.parseInt(group, 16),
  );
}

function hexPair(high: string | undefined, low: string | undefined): string {
  return ((Number(high) << 8) | Number(low)).toString(16);
}

/** The IPv4 address embedded in an IPv6 address: mapped, compatible, NAT64 or 6to4. */
function embeddedIpv4(address: string): string | undefined {
  const groups = parseGroups(address);
  const dotted = (high = 0, low = 0) => `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  const zeros = (count: number) => groups.slice(0, count).every((group) => group === 0);
  if (zeros(5) && groups[5] === 0xffff) return dotted(groups[6], groups[7]);
  if (zeros(4) && groups[4] === 0xffff && groups[5] === 0) return dotted(groups[6], groups[7]);
  if (zeros(6) && (groups[6] !== 0 || (groups[7] ?? 0) > 1)) return dotted(groups[6], groups[7]);
  if (groups[0] === 0x64 && groups[1] === 0xff9b) return dotted(groups[6], groups[7]);
  if (groups[0] === 0x2002) return dotted(groups[1], groups[2]);
  return undefined;
}

/** The class of one IP address. Text that is not an address is treated as private. */
export function classifyAddress(address: string): AddressClass {
  const plain = address.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  const family = isIP(plain);
  if (family === 0) return "private";
  if (family === 6) {
    if (metadata.check(plain, "ipv6")) return "metadata";
    const inner = embeddedIpv4(plain);
    if (inner !== undefined) return classifyAddress(inner);
    return reserved.check(plain, "ipv6") ? "private" : "public";
  }
  if (metadata.check(plain, "ipv4")) return "metadata";
  return reserved.check(plain, "ipv4") ? "private" : "public";
}

export function isMetadataHost(host: string): boolean {
  return METADATA_HOSTS.has(host.toLowerCase().replace(/\.+$/, ""));
}
