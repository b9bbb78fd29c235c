import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { AllowList } from './allow-list.ts';
import { isWebPort } from './port-rules.ts';

/** Where a URL leads: its host as `URL` normalises it, without brackets and trailing dots, and its effective port. */
export type Target = { readonly hostname: string; readonly port: number };

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Addresses at which clouds hand credentials to whoever asks: AWS and most others, Azure (a public address!),
 * Alibaba, Oracle, and the IPv6 ones of AWS and Google. They pass only when listed one by one, never as part
 * of a network or behind an allowed name.
 */
const metadataAddresses: ReadonlySet<string> = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd20:ce::254',
]);

/** May we connect to this address for a client who wrote that target? Anything but a plain address is refused. */
export function isAddressAllowed(address: string, target: Target, allow: AllowList): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  const networks = allow.networks.filter((network) => isListed(parsed, target.port, network));
  if (isMetadata(parsed)) return networks.some((network) => network.prefixBits === parsed.toByteArray().length * 8);
  if (networks.length > 0 || isHostAllowed(target, allow)) return true;
  return isPublicAddress(parsed) && isWebPort(target.port);
}

/** Is the host itself, by name, on the list for this port? */
export function isHostAllowed(target: Target, allow: AllowList): boolean {
  return allow.hosts.some(
    (host) => host.hostname === target.hostname && (host.port === undefined || host.port === target.port),
  );
}

function isListed(address: Address, port: number, network: AllowList['networks'][number]): boolean {
  if (network.port !== undefined && network.port !== port) return false;
  return address.kind() === network.address.kind() && address.match(network.address, network.prefixBits);
}

function isMetadata(address: Address): boolean {
  return metadataAddresses.has(ipaddr.process(address.toString()).toString());
}

const globalUnicast = ipaddr.IPv6.parse('2000::');

/**
 * Only what the registries call globally reachable unicast. The IPv6 rule (inside 2000::/3) takes care of what
 * ipaddr.js lets pass as unicast: IPv4-compatible `::a.b.c.d` and every unassigned block. Mapped, NAT64, 6to4, Teredo,
 * ORCHID and documentation ranges have names of their own in ipaddr.js and so are not `unicast`.
 */
function isPublicAddress(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  if (!(address instanceof ipaddr.IPv6)) return true;
  return address.match(globalUnicast, 3) && !isIsatap(address);
}

/** ISATAP hides an IPv4 address, possibly a private one, in the last 32 bits behind `0:5efe` or `200:5efe`. */
function isIsatap(address: ipaddr.IPv6): boolean {
  return address.parts[5] === 0x5efe && (address.parts[4] === 0 || address.parts[4] === 0x200);
}
