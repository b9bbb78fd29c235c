import { createHmac } from 'node:crypto';
import { SetupError } from '../../platform/errors.ts';
import type { ProviderFile } from './file-schema.ts';

/** Secrets are read when they are needed, so that a new one counts from the next request on. */
export type Secrets = {
  readonly key?: (() => string) | undefined;
  readonly named?: ReadonlyMap<string, () => string>;
};

/** The secret headers of the requests of a file. Throws a `SetupError` when the catalogue does not name a secret that the file needs. */
export function credentialsOf(
  auth: ProviderFile['auth'],
  secrets: Secrets,
  now: () => number = Date.now,
): () => Readonly<Record<string, string>> {
  return () => credentials(auth, secrets, now);
}

/** The secret parameters in the query of the requests of a file. */
export function secretQueryOf(auth: ProviderFile['auth'], { key }: Secrets): () => Readonly<Record<string, string>> {
  return () => (auth.kind === 'query' ? { [auth.name]: read(key, 'key') } : {});
}

function credentials(auth: ProviderFile['auth'], { key, named }: Secrets, now: () => number): Record<string, string> {
  switch (auth.kind) {
    case 'none':
    case 'query':
      return {};
    case 'bearer':
      return { authorization: `Bearer ${read(key, 'key')}` };
    case 'header':
      return { [auth.name.toLowerCase()]: auth.prefix + read(key, 'key') };
    case 'jwtHs256': {
      const [issuer, secret] = [auth.issuer, auth.secret].map((name) => read(named?.get(name), `secrets.${name}`));
      return { authorization: `Bearer ${signedToken(issuer ?? '', secret ?? '', auth.ttlSeconds, now())}` };
    }
    default:
      return auth satisfies never;
  }
}

function read(secret: (() => string) | undefined, name: string): string {
  if (secret === undefined) throw new SetupError(`the file of this provider needs \`${name}\` in the catalogue`);
  return secret();
}

/** The clock of an upstream may be a little behind ours. */
const clockSkewSeconds = 5;

function signedToken(issuer: string, secret: string, ttlSeconds: number, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  const claims = { iss: issuer, exp: seconds + ttlSeconds, nbf: seconds - clockSkewSeconds };
  const signed = [{ alg: 'HS256', typ: 'JWT' }, claims].map((part) => encoded(JSON.stringify(part))).join('.');
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64url');
}
