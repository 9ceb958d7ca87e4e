// Which addresses a container may connect to: the network, but no service of this machine.
import { BlockList, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";

/** The seam for a network policy. */
export type ConnectPolicy = (target: {
  readonly name: string;
  readonly address: string;
  readonly port: number;
}) => boolean;

const LOCAL = new BlockList();
for (const [address, bits] of [
  ["127.0.0.0", 8],
  ["0.0.0.0", 8],
  ["169.254.0.0", 16],
  ["224.0.0.0", 4],
] as const)
  LOCAL.addSubnet(address, bits, "ipv4");
for (const [address, bits] of [
  ["::", 127],
  ["fe80::", 10],
  ["ff00::", 8],
  ["fd00:ec2::", 32],
] as const)
  LOCAL.addSubnet(address, bits, "ipv6");

function ownAddresses(): Set<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address)));
}

/** True for loopback, link-local and metadata addresses, and for the addresses of this machine. */
export function isLocalAddress(address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  if (LOCAL.check(plain, isIPv6(plain) ? "ipv6" : "ipv4")) return true;
  return ownAddresses().has(plain);
}

export const openNetwork: ConnectPolicy = ({ address }) => !isLocalAddress(address);
