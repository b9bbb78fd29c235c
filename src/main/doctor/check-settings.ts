import ipaddr from 'ipaddr.js';
import { dirname } from 'node:path';
import { readCatalogueFile } from '../../catalogue-file.ts';
import { type Config, secretReader } from '../../config.ts';
import { dayMs } from '../../domain/duration.ts';
import { ConfigError, messageOf } from '../../domain/errors.ts';
import type { AllowList, AllowedNetwork } from '../../outbound/allow-list.ts';
import { isMetadata } from '../../outbound/guard.ts';
import { fault, type Finding, ok, warning } from './finding.ts';

/** Beyond what anybody tries, in bits; 32 random hexadecimal digits have 128. */
const leastBits = 96;

/** Judges the text alone: a phrase may have more in it, and a published secret looks like any other. */
export function checkSecret(secret: string): Finding {
  const counts = new Map<string, number>();
  for (const letter of secret) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  const shares = [...counts.values()].map((count) => count / secret.length);
  const bits = secret.length * -shares.reduce((sum, share) => sum + share * Math.log2(share), 0);
  const isCommon = /change.?me|secret|password|example|videogen|0123456789|qwerty/i.test(secret);
  if (bits >= leastBits && !isCommon) return ok('secret', `VIDEOGEN_SECRET has ${secret.length} characters`);
  return warning(
    'secret',
    isCommon ? 'VIDEOGEN_SECRET holds a word that others would try' : 'VIDEOGEN_SECRET repeats itself',
    'Before the first account, take another one: openssl rand -hex 32. Later it must be rotated (docs/operations/access.md).',
  );
}

type Addresses = Pick<Config, 'publicUrl' | 'host' | 'port' | 'databaseUrl'>;

export function checkPublicUrl({ publicUrl, host, port, databaseUrl }: Addresses): Finding {
  const check = 'public address';
  const isShared = databaseUrl !== undefined;
  const url = publicUrl ?? `http://${host}:${port}`;
  const { protocol, hostname, pathname, search, username } = new URL(url);
  const where = placeOf(hostname);
  const reach = 'Set PUBLIC_URL to where clients reach the API.';
  if (publicUrl === undefined && !isShared) return ok(check, `${url}, for this machine alone`);
  if (publicUrl === undefined) return warning(check, `PUBLIC_URL is not set, so links begin with ${url}`, reach);
  if (pathname !== '/' || search !== '' || username !== '') {
    const message = `${hostname}: PUBLIC_URL has more than scheme, host and port`;
    return fault(check, message, 'Take path, query and user out of it.');
  }
  if (where === 'loopback' && !isShared) return ok(check, url);
  if (where === 'loopback') return warning(check, `${url} leads to each client's own machine`, reach);
  if (where === 'any') return fault(check, `${url} is not an address that clients can reach`, reach);
  if (protocol !== 'https:') {
    const remedy = 'Put a proxy with TLS in front; docs/operations/install.md has one.';
    return warning(check, `${url}: keys and videos can be read on the way`, remedy);
  }
  if (where === 'public') return ok(check, url);
  const remedy = 'Set an address that upstreams reach, unless they are inside, too.';
  return warning(check, `${url} is reached from inside alone; upstreams fetch images from there`, remedy);
}

function placeOf(hostname: string): 'loopback' | 'private' | 'any' | 'public' {
  const name = hostname.replace(/^\[|\]$/g, '');
  if (name === 'localhost' || name.endsWith('.localhost')) return 'loopback';
  if (!ipaddr.isValid(name)) return name.includes('.') ? 'public' : 'private';
  const range = ipaddr.process(name).range();
  if (range === 'loopback') return 'loopback';
  if (range === 'unspecified' || range === 'broadcast' || range === 'multicast') return 'any';
  return range === 'unicast' ? 'public' : 'private';
}

/** What a client may reach inside by way of us. */
export function checkAllowList(setting: 'CALLBACK_ALLOW' | 'IMAGE_ALLOW', list: AllowList, isShared: boolean): Finding {
  const check = setting === 'CALLBACK_ALLOW' ? 'callback addresses' : 'image addresses';
  const inside = list.networks.filter(isInside).map(textOf);
  const metadata = list.networks.filter(holdsMetadata).map(textOf);
  if (metadata.length > 0)
    return fault(
      check,
      `${setting} opens ${metadata.join(', ')}: clients reach the metadata service of a cloud, and with it its credentials`,
      `Take it out of ${setting}.`,
    );
  const names = list.hosts.map(({ hostname, port }) => (port === undefined ? hostname : `${hostname}:${port}`));
  if (inside.length === 0 && names.length === 0) return ok(check, 'public ones alone');
  const said = `${setting} opens ${[...inside, ...names].join(', ')} to every client`;
  if (!isShared && [...inside, ...names].every((name) => /^(127\.|::1|localhost)/.test(name))) return ok(check, said);
  return inside.length > 0
    ? warning(check, said, 'Name single hosts, or leave it empty, unless every client may send requests there.')
    : ok(check, said);
}

/** As the guard has it: only an entry for exactly this address opens it. */
function holdsMetadata({ address, prefixBits }: AllowedNetwork): boolean {
  return prefixBits === address.toByteArray().length * 8 && isMetadata(address);
}

function isInside({ address, prefixBits }: AllowedNetwork): boolean {
  return prefixBits < 8 || address.range() !== 'unicast';
}

function textOf({ address, prefixBits, port }: AllowedNetwork): string {
  const isOne = prefixBits === address.toByteArray().length * 8;
  return isOne ? `${address.toString()}${port === undefined ? '' : `:${port}`}` : `${address.toString()}/${prefixBits}`;
}

export function checkRetention({ eventRetentionMs, userRetentionMs, promptRetentionMs }: Config): Finding {
  const after = (ms: number) => `after ${Math.round(ms / dayMs)} days`;
  const prompts =
    promptRetentionMs === undefined ? 'prompts stay with their tasks' : `prompts ${after(promptRetentionMs)}`;
  return ok(
    'personal data',
    `deletes security events ${after(eventRetentionMs)}, people without an account ${after(userRetentionMs)}; ${prompts}`,
  );
}

/** The file itself was read with the settings; here are the secrets that it refers to, which only some workers need. */
export function checkCatalogue(
  { catalogueFile: path, catalogue, publicUrl }: Config,
  needsSecrets: boolean,
): readonly Finding[] {
  const models = `${catalogue.models.size} models, ${catalogue.providers.size} providers`;
  if (path === undefined) return [ok('catalogue', `the built-in one: ${models}`)];
  try {
    readCatalogueFile({
      path,
      ...(publicUrl !== undefined && { publicUrl }),
      ...(needsSecrets && { readSecret: secretReader(dirname(path)) }),
    });
    return [ok('catalogue', `${path}: ${models}${needsSecrets ? '; the secrets that it refers to are there' : ''}`)];
  } catch (error) {
    const faults = error instanceof ConfigError ? error.faults : [messageOf(error)];
    return faults.map((message) =>
      fault('catalogue', message, 'Correct the catalogue, or set the secret that it refers to.'),
    );
  }
}
