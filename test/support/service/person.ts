import { hash } from '@node-rs/argon2';
import type { Role } from '../../../src/accounts/people/account-roles-and-scopes.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { setMembership } from '../../../src/accounts/people/memberships.ts';
import { createUser } from '../../../src/accounts/people/users.ts';
import type { Answer, SendOptions } from './http-client.ts';
import type { HttpService } from './http-service.ts';

type At = Pick<HttpService, 'send' | 'database'>;

/** The headers that the pages of the console send. */
export const fromConsole = {
  'content-type': 'application/json',
  'sec-fetch-site': 'same-origin',
  'videogen-console': '1',
} as const;

export const goodPassword = 'correct horse battery';

/** The actor of a command, and the origin of a request that no browser sent. */
export const shell = { kind: 'command_line', name: 'ada' } as const;
export const origin = { address: '192.0.2.1', userAgent: 'test' } as const;

/** A browser of one person: keeps its cookie and sends it along. */
export type Browser = {
  cookie(): string | undefined;
  /** Sends a request as a page of the console does; `body` is sent as JSON. */
  ask(method: 'GET' | 'POST' | 'DELETE', path: string, wish?: Wish): Promise<Answer>;
  /** Sends a request with the cookie and these headers. */
  askAs(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    headers: SendOptions['headers'],
    body?: unknown,
  ): Promise<Answer>;
};

type Wish = {
  readonly body?: unknown;
  readonly accountId?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

let browsers = 0;

/** Each is at an address of its own by default, since sign-in attempts are limited by it. */
export function newBrowser(
  { send }: Pick<HttpService, 'send'>,
  given?: string,
  address = `10.0.${(browsers += 1) >> 8}.${browsers & 255}`,
): Browser {
  let cookie = given;
  const askAs: Browser['askAs'] = async (method, path, headers = {}, body) => {
    const answer = await send(method, path, {
      headers: { ...(cookie !== undefined && { cookie }), 'x-forwarded-for': address, ...headers },
      ...(method === 'POST' && { body: JSON.stringify(body ?? {}) }),
    });
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [pair = ''] = line.split(';');
      cookie = line.includes('Max-Age=0') ? undefined : pair;
    }
    return answer;
  };
  return {
    cookie: () => cookie,
    askAs,
    ask: (method, path, { body, accountId, headers = {} } = {}) =>
      askAs(
        method,
        path,
        { ...fromConsole, ...(accountId !== undefined && { 'videogen-account': accountId }), ...headers },
        body,
      ),
  };
}

export type Person = Browser & { readonly userId: string; readonly email: string; readonly sessionId: string };

let count = 0;
/** A hash with the least cost. Its string contains the cost, so a password is verified with the same. */
export function hashCheaply(text: string): Promise<string> {
  return hash(text, { memoryCost: 8, timeCost: 1, parallelism: 1 });
}

const passwordHash = hashCheaply(goodPassword);

/** A new user who is signed in, with roles in these accounts. */
export async function newPerson(
  service: At,
  wanted: { readonly roles?: Readonly<Record<string, Role>>; readonly isOperator?: boolean } = {},
): Promise<Person> {
  const { db } = service.database;
  const email = `person-${(count += 1)}@example.com`;
  const isOperator = wanted.isOperator === true;
  const { userId } = await createUser(db, { email, passwordHash: await passwordHash, isOperator });
  for (const [accountId, role] of Object.entries(wanted.roles ?? {})) await setMembership(db, accountId, userId, role);
  const browser = newBrowser(service);
  const answer = await signIn(browser, email);
  if (answer.status !== 200) throw new Error(answer.json.msg);
  // the documented shape
  const { sessionId } = answer.json.data['session'] as { readonly sessionId: string };
  return { ...browser, userId, email, sessionId };
}

export function signIn(browser: Browser, email: string, password: string = goodPassword): Promise<Answer> {
  return browser.ask('POST', '/api/console/v1/sign-in', { body: { email, password } });
}

/** An account with one member. */
export async function newMember(service: At, role: Role = 'owner', credits = 10_000) {
  const accountId = await createAccount(service.database.db, { name: 'test', credits });
  return { accountId, person: await newPerson(service, { roles: { [accountId]: role } }) };
}
