import ipaddr from 'ipaddr.js';
import { dirname } from 'node:path';
import { readCatalogueOrThrow } from '../../catalogue/file/read-catalogue-file.ts';
import { type Config, catalogueSecretReader } from '../config/config.ts';
import { ConfigError, messageOf } from '../../platform/setup-errors-and-error-messages.ts';
import type { AllowList, AllowedNetwork } from '../../platform/outbound/guard/allow-list.ts';
import { isMetadataAddress } from '../../platform/outbound/guard/guard.ts';
import { failure, type Finding, ok, warning } from './checks-and-findings.ts';

/** Bits of entropy that make guessing infeasible; 32 random hexadecimal digits have 128. */
const leastBits = 96;

/** Estimates the entropy of the text alone; a published secret passes. */
export function checkSecretEntropy(secret: string): Finding {
  const counts = new Map<string, number>();
  for (const letter of secret) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  const shares = [...counts.values()].map((count) => count / secret.length);
  const bits = secret.length * -shares.reduce((sum, share) => sum + share * Math.log2(share), 0);
  const isCommon = /change.?me|secret|password|example|videogen|0123456789|qwerty/i.test(secret);
  if (bits >= leastBits && !isCommon) return ok('secret', `VIDEOGEN_SECRET has ${secret.length} characters`);
  return warning(
    'secret',
    isCommon ? 'VIDEOGEN_SECRET contains a word that is easy to guess' : 'VIDEOGEN_SECRET repeats itself',
    'Before the first account, set another one: openssl rand -hex 32. Later it must be rotated (docs/operations/access.md).',
  );
}

type Addresses = Pick<Config, 'publicUrl' | 'host' | 'port' | 'databaseUrl'>;

export function checkPublicUrl({ publicUrl, host, port, databaseUrl }: Addresses): Finding {
  const check = 'public address';
  const isShared = databaseUrl !== undefined;
  const url = publicUrl ?? `http://${host}:${port}`;
  const { protocol, hostname, pathname, search, username } = new URL(url);
  const where = reachOf(hostname);
  const reach = 'Set PUBLIC_URL to where clients reach the API.';
  if (publicUrl === undefined && !isShared) return ok(check, `${url}, for this machine only`);
  if (publicUrl === undefined) return warning(check, `PUBLIC_URL is not set, so links begin with ${url}`, reach);
  if (pathname !== '/' || search !== '' || username !== '') {
    const message = `${hostname}: PUBLIC_URL has more than scheme, host and port`;
    return failure(check, message, 'Remove path, query and user.');
  }
  if (where === 'loopback' && !isShared) return ok(check, url);
  if (where === 'loopback') return warning(check, `${url} leads to each client's own machine`, reach);
  if (where === 'any') return failure(check, `${url} is not an address that clients can reach`, reach);
  if (protocol !== 'https:') {
    const remedy = 'Put a proxy with TLS in front; docs/operations/install.md has one.';
    return warning(check, `${url}: keys and videos travel unencrypted`, remedy);
  }
  if (where === 'public') return ok(check, url);
  const remedy = 'Set an address that upstreams reach, unless they are in the same network.';
  return warning(check, `${url} is private, and upstreams fetch images from there`, remedy);
}

function reachOf(hostname: string): 'loopback' | 'private' | 'any' | 'public' {
  const name = hostname.replace(/^\[|\]$/g, '');
  if (name === 'localhost' || name.endsWith('.localhost')) return 'loopback';
  if (!ipaddr.isValid(name)) return name.includes('.') ? 'public' : 'private';
  const range = ipaddr.process(name).range();
  if (range === 'loopback') return 'loopback';
  if (range === 'unspecified' || range === 'broadcast' || range === 'multicast') return 'any';
  return range === 'unicast' ? 'public' : 'private';
}

/** Lists the private addresses that clients can reach through us. */
export function checkAllowList(setting: 'CALLBACK_ALLOW' | 'IMAGE_ALLOW', list: AllowList, isShared: boolean): Finding {
  const check = setting === 'CALLBACK_ALLOW' ? 'callback addresses' : 'image addresses';
  const inside = list.networks.filter(isInside).map(textOf);
  const metadata = list.networks.filter(holdsMetadata).map(textOf);
  if (metadata.length > 0)
    return failure(
      check,
      `${setting} opens ${metadata.join(', ')}: clients reach the metadata service of a cloud, and with it its credentials`,
      `Remove it from ${setting}.`,
    );
  const names = list.hosts.map(({ hostname, port }) => (port === undefined ? hostname : `${hostname}:${port}`));
  if (inside.length === 0 && names.length === 0) return ok(check, 'public addresses only');
  const shown = `${setting} opens ${[...inside, ...names].join(', ')} to every client`;
  if (!isShared && [...inside, ...names].every((name) => /^(127\.|::1|localhost)/.test(name))) return ok(check, shown);
  return inside.length > 0
    ? warning(check, shown, 'Name single hosts, or leave it empty, unless every client may send requests there.')
    : ok(check, shown);
}

/** The guard opens a metadata address only for an entry of exactly this address. */
function holdsMetadata({ address, prefixBits }: AllowedNetwork): boolean {
  return prefixBits === address.toByteArray().length * 8 && isMetadataAddress(address);
}

function isInside({ address, prefixBits }: AllowedNetwork): boolean {
  return prefixBits < 8 || address.range() !== 'unicast';
}

function textOf({ address, prefixBits, port }: AllowedNetwork): string {
  const isOne = prefixBits === address.toByteArray().length * 8;
  return isOne ? `${address.toString()}${port === undefined ? '' : `:${port}`}` : `${address.toString()}/${prefixBits}`;
}

/** Reads the file again with its secrets, which only some workers need. */
export function checkCatalogue(
  { catalogueFile: path, catalogue, publicUrl }: Config,
  needsSecrets: boolean,
): readonly Finding[] {
  const models = `${catalogue.models.size} models, ${catalogue.providers.size} providers`;
  if (path === undefined) return [ok('catalogue', `the built-in one: ${models}`)];
  try {
    readCatalogueOrThrow({
      path,
      ...(publicUrl !== undefined && { publicUrl }),
      ...(needsSecrets && { readSecret: catalogueSecretReader(dirname(path)) }),
    });
    return [ok('catalogue', `${path}: ${models}${needsSecrets ? '; the secrets that it refers to are there' : ''}`)];
  } catch (error) {
    const problems = error instanceof ConfigError ? error.problems : [messageOf(error)];
    return problems.map((message) =>
      failure('catalogue', message, 'Correct the catalogue, or set the secret that it refers to.'),
    );
  }
}

/** `onLostJob: resubmit` is the default of servers of one's own, and makes a video up to three times. */
export function resubmittingProvidersFinding({ catalogue }: Pick<Config, 'catalogue'>): readonly Finding[] {
  const repeating = [...catalogue.providers].flatMap(([name, settings]) =>
    'onLostJob' in settings && settings.onLostJob === 'resubmit' ? [`${name} (${settings.kind})`] : [],
  );
  if (repeating.length === 0) return [];
  const what = 'a job that is lost is made again, twice at most; onLostJob: fail refunds its task instead';
  return [ok('lost jobs', `${repeating.join(', ')}: ${what}`)];
}
