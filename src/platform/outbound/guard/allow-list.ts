import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A host that is allowed with any address; any port when `port` is undefined. */
export type AllowedHost = { readonly hostname: string; readonly port: number | undefined };

/** A network whose addresses are allowed; a single address is a network of full length. */
export type AllowedNetwork = {
  readonly address: ipaddr.IPv4 | ipaddr.IPv6;
  readonly prefixBits: number;
  readonly port: number | undefined;
};

/** Targets that the outbound guard allows beside public addresses. */
export type AllowList = { readonly hosts: readonly AllowedHost[]; readonly networks: readonly AllowedNetwork[] };

/** The default in embedded mode; setting CALLBACK_ALLOW or IMAGE_ALLOW replaces it. */
export const loopbackAllowListText = '127.0.0.0/8,::1,localhost';

/**
 * Reads the value of CALLBACK_ALLOW or IMAGE_ALLOW: entries between commas or white space, each a host, an address (both with an optional
 * `:port`) or a CIDR. Throws for the first invalid one: a typing error in a security setting must stop the start. An empty
 * text allows nothing extra.
 */
export function parseAllowList(text: string): AllowList {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
  const parsed = entries.map((entry) => (entry.includes('/') ? parseNetwork(entry) : parseHost(entry)));
  return {
    hosts: parsed.filter((entry) => 'hostname' in entry),
    networks: parsed.filter((entry) => 'prefixBits' in entry),
  };
}

/** The message is for the operator. */
function invalidEntry(entry: string, why: string): Error {
  return new Error(`"${entry}" ${why}`);
}

function parseNetwork(entry: string): AllowedNetwork {
  if (!ipaddr.isValidCIDR(entry) || isIP(entry.slice(0, entry.indexOf('/'))) === 0) {
    throw invalidEntry(entry, 'is not a network such as 10.0.0.0/8 or fd00::/8');
  }
  const [address, prefixBits] = ipaddr.parseCIDR(entry);
  refuseMapped(entry, address);
  const first = (address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(entry).toString();
  if (first !== address.toString()) throw invalidEntry(entry, `has bits behind its prefix: ${first}/${prefixBits}?`);
  return { address, prefixBits, port: undefined };
}

/** The guard always refuses IPv4-mapped addresses, so such an entry would have no effect. */
function refuseMapped(entry: string, address: ipaddr.IPv4 | ipaddr.IPv6): void {
  if (address.range() === 'ipv4Mapped') throw invalidEntry(entry, 'is IPv4-mapped: write the IPv4 form');
}

const hostAndPort = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:[\]@?#*\\]+)(?::(?<port>[1-9][0-9]{0,4}))?$/;

function parseHost(entry: string): AllowedHost | AllowedNetwork {
  const text = isIP(entry) === 6 ? `[${entry}]` : entry;
  const hostname = hostnameOf(text);
  if (hostname === '') throw invalidEntry(entry, 'is not a host or an address, with or without a port');
  const digits = hostAndPort.exec(text)?.groups?.['port'];
  const port = digits === undefined ? undefined : Number(digits);
  if (isIP(hostname) === 0) return { hostname, port };
  const address = ipaddr.parse(hostname);
  refuseMapped(entry, address);
  return { address, prefixBits: address.toByteArray().length * 8, port };
}

/** Returns the host as `URL` spells it, for comparisons; empty for text that is no host. */
function hostnameOf(text: string): string {
  if (!hostAndPort.test(text) || !URL.canParse(`http://${text}`)) return '';
  return new URL(`http://${text}`).hostname.replace(/^\[|\]$|\.+$/g, '');
}

/** Reads TRUSTED_PROXIES: addresses and networks, as in an allow-list, without hosts and ports. Throws for any other. */
export function parseNetworks(text: string): readonly AllowedNetwork[] {
  const { hosts, networks } = parseAllowList(text);
  const [host] = hosts;
  if (host !== undefined) throw invalidEntry(host.hostname, 'is not an address or a network');
  if (networks.some(({ port }) => port !== undefined)) throw invalidEntry(text, 'must be without ports');
  return networks;
}

export function isInNetworks(address: string, networks: readonly AllowedNetwork[]): boolean {
  const parsed = ipaddr.process(address);
  return networks.some((network) => {
    const { address: first, prefixBits } = network;
    return first.kind() === parsed.kind() && parsed.match(first, prefixBits);
  });
}
