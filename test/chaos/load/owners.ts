import { setMembership } from '../../../src/accounts/people/memberships.ts';
import { clearedSessionCookie } from '../../../src/api/sign-in/session-and-oidc-visit-cookies.ts';
import { createSession } from '../../../src/accounts/sign-in/sessions.ts';
import { createUser } from '../../../src/accounts/people/users.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { fromConsole, origin } from '../../support/service/person.ts';

/** The owner of an account, who is signed in. */
export type Owner = { readonly client: number; readonly accountId: string; readonly token: string };

export async function newOwner(db: Database, account: Omit<Owner, 'token'>, email: string): Promise<Owner> {
  const { userId } = await createUser(db, { email, isOperator: false, passwordHash: undefined });
  await setMembership(db, account.accountId, userId, 'owner');
  return { ...account, token: (await createSession(db, userId, origin)).token };
}

/** Sends a request as the owner's browser does. A response counts only if it arrives whole. */
export async function postAs(
  { accountId, token }: Owner,
  url: string,
  body: unknown,
): Promise<{ readonly status: number; readonly text: string }> {
  const [name = ''] = clearedSessionCookie(new URL(url).origin).split('=');
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...fromConsole, cookie: `${name}=${token}`, 'videogen-account': accountId },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  return { status: response.status, text: await response.text() };
}
