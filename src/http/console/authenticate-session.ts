import { validate as isUuid } from 'uuid';
import type { Caller } from '../../domain/api-key.ts';
import type { Actor } from '../../domain/operator.ts';
import { type Role, scopesOfRole } from '../../domain/role.ts';
import { type FoundSession, findSession } from '../../stores/sessions.ts';
import type { Context } from '../context.ts';
import { HttpError } from '../errors.ts';
import type { HttpDeps } from '../http-deps.ts';
import { accountHeader, hasConsoleHeader, requireOwnPage } from './same-origin.ts';
import { clearedCookie, sessionToken } from './session-cookie.ts';

type Deps = Pick<HttpDeps, 'db' | 'console'>;

/** A person with what they are in the account that their page is about. */
export type PersonOfAccount = { readonly session: FoundSession; readonly accountId: string; readonly role: Role };

/** Finds the person who calls by the cookie of their session. */
export function createSessionAuthentication(deps: Deps) {
  return {
    /** Whether a page of the console calls. A request with `Authorization` is never one: its cookie does not count. */
    isFromConsole: (ctx: Context): boolean =>
      ctx.get('Authorization') === '' &&
      (hasConsoleHeader(ctx) || sessionToken(ctx, deps.console.publicUrl) !== undefined),
    session: (ctx: Context) => findPerson(ctx, deps),
    member: (ctx: Context) => findMember(ctx, deps),
    /** The person as a caller of the account that the page names; another account and none are one and the same. */
    caller: async (ctx: Context): Promise<Caller> => {
      const { session, accountId, role } = await findMember(ctx, deps);
      const { userId, email, isRecent, suspended } = session;
      const by = { kind: 'person', userId, email, isRecent } as const;
      return { by, accountId, scopes: scopesOfRole[role], suspended, dialect: 'native' };
    },
    /** The person as an operator. Others are not told that there is something. */
    operator: async (ctx: Context): Promise<Actor & { readonly kind: 'user'; readonly isRecent: boolean }> => {
      const { userId, email: name, isOperator, isRecent } = await findPerson(ctx, deps);
      if (!isOperator) throw new HttpError('unknown_endpoint');
      return { kind: 'user', userId, name, requestId: ctx.state.requestId, isRecent };
    },
  };
}

const mePath = '/api/console/v1/me';

/** Of a cookie that is none, unknown, expired or somebody's who is disabled, one and the same 401. */
export async function findPerson(ctx: Context, { db, console: { publicUrl } }: Deps): Promise<FoundSession> {
  // A key opens nothing here, and the cookie beside it does not count.
  if (ctx.get('Authorization') !== '') throw new HttpError('not_signed_in');
  requireOwnPage(ctx, publicUrl);
  const token = sessionToken(ctx, publicUrl);
  const accountId = namedAccount(ctx);
  const isBackground = ctx.get('Videogen-Background') === '1';
  const asked = { accountId: isUuid(accountId) ? accountId : undefined, isBackground };
  const session = token === undefined ? undefined : await findSession(db, token, asked);
  if (session === undefined) {
    // What an open page reads may be answered after a new proof or a sign-in elsewhere, whose cookie it must not take away.
    const isForgotten = ctx.method !== 'GET' || (ctx.path === mePath && !isBackground);
    throw new HttpError('not_signed_in', isForgotten ? { headers: { 'Set-Cookie': clearedCookie(publicUrl) } } : {});
  }
  ctx.state.userId = session.userId;
  return session;
}

async function findMember(ctx: Context, deps: Deps): Promise<PersonOfAccount> {
  const session = await findPerson(ctx, deps);
  if (session.role === undefined) throw new HttpError('account_not_found');
  const accountId = namedAccount(ctx);
  ctx.state.accountId = accountId;
  return { session, accountId, role: session.role };
}

/** As the database spells it: the id is part of what the account's secrets are sealed with. */
function namedAccount(ctx: Context): string {
  return ctx.get(accountHeader).toLowerCase();
}

/** Throws unless the person has proved who they are a short while ago. */
export function requireRecentProof({ isRecent }: { readonly isRecent: boolean }): void {
  if (!isRecent) throw new HttpError('reauthentication_required');
}

const maxAgentLength = 300;

/** Where a person calls from, for the list of sessions and the log of security events. */
export function originOf(ctx: Context) {
  // What is no text that a list can show is left out.
  const userAgent = ctx
    .get('User-Agent')
    .replaceAll(/[^\x20-\x7e]/g, '')
    .slice(0, maxAgentLength);
  return { address: ctx.state.clientAddress, userAgent };
}
