import { sign } from 'jws';
import { v4 as uuid } from 'uuid';
import { z } from 'zod';
import { SetupError } from '../../platform/setup-errors-and-error-messages.ts';
import { parsedJson } from '../../platform/text/json.ts';
import type { ProviderFile } from '../../catalogue/providers/provider-file-schema.ts';
import type { HeadersAndCredentials } from '../provider-contract.ts';

/** Secrets are read when they are needed, so that a new one counts from the next request on. */
export type KeyAndNamedSecrets = {
  readonly key?: (() => string) | undefined;
  readonly named?: ReadonlyMap<string, () => string>;
};

type Headers = Readonly<Record<string, string>>;

/** What a file puts into each request. */
export function requestSettingsOf(file: ProviderFile, secrets: () => KeyAndNamedSecrets): HeadersAndCredentials {
  const { headers, auth, keyOrigins } = file;
  return {
    headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== generated)),
    credentials: () => secretHeadersOf(auth, secrets()),
    secretQuery: () => secretQueryOf(auth, secrets()),
    keyOrigins,
  };
}

/** The value of a header that is generated for each request. */
const generated = '$uuid';

export function generatedHeaders({ headers }: Pick<ProviderFile, 'headers'>): Headers {
  const names = Object.keys(headers).filter((name) => headers[name] === generated);
  return Object.fromEntries(names.map((name) => [name, uuid()]));
}

/** The secret parameters in the query of the requests of a file. */
export function secretQueryOf(auth: ProviderFile['auth'], { key }: KeyAndNamedSecrets): Headers {
  return auth.kind === 'query' ? { [auth.name]: read(key, 'key') } : {};
}

/**
 * The secret headers of one request of a file, because some expire. Throws a `SetupError` when the catalogue does not name a secret that
 * the file needs.
 */
export function secretHeadersOf(
  auth: ProviderFile['auth'],
  { key, named }: KeyAndNamedSecrets,
  now = Date.now(),
): Headers {
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
      return { authorization: `Bearer ${signedToken(issuer ?? '', secret ?? '', auth.ttlSeconds, now)}` };
    }
    case 'googleServiceAccount': {
      const accountKey = read(named?.get(auth.secret), `secrets.${auth.secret}`);
      return { authorization: `Bearer ${googleToken(auth.secret, accountKey, auth.scope, now)}` };
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
  const payload = { iss: issuer, exp: seconds + ttlSeconds, nbf: seconds - clockSkewSeconds };
  return sign({ header: { alg: 'HS256', typ: 'JWT' }, payload, secret });
}

const serviceAccount = z.object({
  client_email: z.string().min(1),
  private_key: z.string().includes('PRIVATE KEY'),
  private_key_id: z.string().optional(),
});

/** The longest that Google accepts. */
const googleTokenSeconds = 3600;

/** Google accepts a token that a service account has signed itself, without a request for one: see https://google.aip.dev/auth/4111. */
function googleToken(name: string, key: string, scope: string, nowMs: number): string {
  const { data } = serviceAccount.safeParse(parsedJson(key));
  if (data === undefined) throw new SetupError(`\`secrets.${name}\` must be the JSON key file of a service account`);
  const seconds = Math.floor(nowMs / 1000) - clockSkewSeconds;
  const { client_email: email, private_key: secret, private_key_id: kid } = data;
  const payload = { iss: email, sub: email, scope, iat: seconds, exp: seconds + googleTokenSeconds };
  try {
    return sign({ header: { alg: 'RS256', typ: 'JWT', ...(kid !== undefined && { kid }) }, payload, secret });
  } catch (cause) {
    throw new SetupError(`the private key in \`secrets.${name}\` cannot sign`, { cause });
  }
}
