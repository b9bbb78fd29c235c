import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import type { AllowList } from './allow-list.ts';

/** The host of a URL as `URL` normalizes it, without brackets and trailing dots, and its effective port. */
export type HostAndPort = { readonly hostname: string; readonly port: number };

/** A server of this installation; `host` is a name or an address. No allow-list opens it to clients. */
export type OwnEndpoint = { readonly host: string; readonly port: number };

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export function hostAndPortOf(url: URL): HostAndPort {
  const hostname = url.hostname.replace(/^\[|\]$|\.+$/g, '');
  const defaultPort = url.protocol === 'https:' ? 443 : 80;
  return { hostname, port: url.port === '' ? defaultPort : Number(url.port) };
}

/**
 * Returns why a URL of a client is rejected, undefined if it is not. It uses no network, so that createTask can call it before it
 * charges. The answer continues a path: `callBackUrl: must be an http or https URL`. `URL` has already turned decimal, octal,
 * hexadecimal, short and full-width IPv4 into the plain form. Own endpoints are not refused here: the answer would name them.
 */
export function urlRefusal(url: string, allow: AllowList): string | undefined {
  if (!URL.canParse(url)) return 'must be an http or https URL';
  const parsed = new URL(url);
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') return 'must be an http or https URL';
  if (parsed.username !== '' || parsed.password !== '') return 'must not contain a user name or password';
  const target = hostAndPortOf(parsed);
  if (isHostAllowed(target, allow)) return undefined;
  if (!isWebPort(target.port) && !isPortListed(target.port, allow)) return `must not use port ${target.port}`;
  const isPrivate =
    isIP(target.hostname) === 0 ? isLocalhostName(target.hostname) : !isAddressAllowed(target.hostname, target, allow);
  return isPrivate ? 'must not point to a private or reserved address' : undefined;
}

/** A name may still resolve into an allowed network; the check of its addresses then decides about the port. */
function isPortListed(port: number, allow: AllowList): boolean {
  return allow.networks.some((network) => network.port === undefined || network.port === port);
}

export function isLocalhostName(hostname: string): boolean {
  return hostname === '' || hostname === 'localhost' || hostname.endsWith('.localhost');
}

/** Returns true if an exchange with the client's target may connect to this address. Anything but a plain address is refused. */
export function isAddressAllowed(address: string, target: HostAndPort, allow: AllowList): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  const networks = allow.networks.filter((network) => isListed(parsed, target.port, network));
  if (isMetadataAddress(parsed))
    return networks.some((network) => network.prefixBits === parsed.toByteArray().length * 8);
  if (networks.length > 0 || isHostAllowed(target, allow)) return true;
  return isPublicAddress(parsed) && isWebPort(target.port);
}

function isHostAllowed(target: HostAndPort, allow: AllowList): boolean {
  return allow.hosts.some(
    (host) => host.hostname === target.hostname && (host.port === undefined || host.port === target.port),
  );
}

/** True if clients could connect to this address without any allow-list. */
export function isReachableByAll(address: string, target: HostAndPort): boolean {
  return isAddressAllowed(address, target, { hosts: [], networks: [] });
}

function isListed(address: Address, port: number, network: AllowList['networks'][number]): boolean {
  if (network.port !== undefined && network.port !== port) return false;
  return address.kind() === network.address.kind() && address.match(network.address, network.prefixBits);
}

/**
 * Addresses at which clouds hand out credentials: AWS and most others, Azure (a public address), Alibaba, Oracle, and the IPv6 ones of AWS
 * and Google. They are allowed only if listed one by one, never as part of a network or through an allowed name.
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

export function isMetadataAddress(address: Address): boolean {
  return metadataAddresses.has(ipaddr.process(address.toString()).toString());
}

const globalUnicast = ipaddr.IPv6.parse('2000::');

/**
 * True for addresses that the registries call globally reachable unicast. The IPv6 rule (inside 2000::/3) excludes what ipaddr.js accepts
 * as unicast: IPv4-compatible `::a.b.c.d` and every unassigned block. Mapped, NAT64, 6to4, Teredo, ORCHID and documentation ranges have
 * names of their own in ipaddr.js and so are not `unicast`.
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

/**
 * Ports above 1023 that no web server uses: those of the Fetch standard's list of bad ports, and those of stores that act on single lines
 * of text (Redis, memcached), which an HTTP request could contain.
 */
const refusedPorts: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080, 11211,
]);

/** True for a port on which a client's web server may listen: 80, 443, and 1024 upwards without the refused ones. */
function isWebPort(port: number): boolean {
  return port === 80 || port === 443 || (port >= 1024 && port <= 65_535 && !refusedPorts.has(port));
}

/**
 * True for address and port of one of our own servers. A server may listen on every address of this machine, and of the host that is named.
 * A host that cannot be looked up might be this one.
 */
export async function isOwnEndpoint(address: string, port: number, own: readonly OwnEndpoint[]): Promise<boolean> {
  const hosts = own.filter((endpoint) => endpoint.port === port).map(({ host }) => host.replace(/^\[|\]$/g, ''));
  if (hosts.length === 0) return false;
  if (isOfThisMachine(ipaddr.process(address))) return true;
  const named = await Promise.all(hosts.map((host) => lookup(host, { all: true }).catch(() => [{ address }])));
  return named.flat().some((answer) => isSameAddress(answer.address, address));
}

function isOfThisMachine(address: Address): boolean {
  if (address.range() === 'loopback' || address.range() === 'unspecified') return true;
  const interfaces = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return interfaces.some((one) => isSameAddress(one.address, address.toString()));
}

/** IPv6 can be written in several ways, and IPv4 inside it. */
export function isSameAddress(a: string, b: string): boolean {
  return a === b || ipaddr.process(a).toNormalizedString() === ipaddr.process(b).toNormalizedString();
}
