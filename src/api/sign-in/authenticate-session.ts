import { validate as isUuid } from 'uuid';
import type { Caller } from '../../accounts/keys/scopes-dialects-and-caller.ts';
import type { Actor } from '../../accounts/operators/actors-and-actions.ts';
import { type Role, scopesByRole } from '../../accounts/people/account-roles-and-scopes.ts';
import { type SessionWithRole, findAndTouchSession } from '../../accounts/sign-in/sessions.ts';
import type { Context } from '../core/request-context-and-responses.ts';
import type { Database } from '../../platform/database/database.ts';
import { HttpError } from '../core/http-error.ts';
import { accountHeader, hasConsoleHeader, refuseForeignLink, requireOwnPage } from '../console/same-origin.ts';
import { clearedSessionCookie, sessionToken } from './session-and-oidc-visit-cookies.ts';

export type SessionDeps = { readonly db: Database; readonly console: { readonly publicUrl: string } };

/** The part of an endpoint's declaration that decides about a request by another method than GET. */
type Effect = { readonly changesNothing?: true };

/** A person and their role in the account that the page names. */
export type PersonOfAccount = { readonly session: SessionWithRole; readonly accountId: string; readonly role: Role };

export function createSessionAuthentication(deps: SessionDeps) {
  return {
    /** With `Authorization` the cookie is ignored. */
    isFromConsole: (ctx: Context): boolean =>
      ctx.get('Authorization') === '' &&
      (hasConsoleHeader(ctx) || sessionToken(ctx, deps.console.publicUrl) !== undefined),
    session: async (ctx: Context, effect: Effect) => {
      const session = await findPerson(ctx, deps);
      requireOwnRights(ctx, session, effect);
      return session;
    },
    member: (ctx: Context, effect: Effect) => findMember(ctx, deps, effect),
    /** The person as a caller of the account that the page names. */
    caller: async (ctx: Context, effect: Effect): Promise<Caller> => {
      const { session, accountId, role } = await findMember(ctx, deps, effect);
      const { userId, email, isRecent, suspended } = session;
      const by = { kind: 'person', userId, email, isRecent } as const;
      return { by, accountId, scopes: scopesByRole[role], suspended, dialect: 'native' };
    },
    /** To anyone else the endpoint does not exist. */
    operator: async (ctx: Context): Promise<Actor & { readonly kind: 'user'; readonly isRecent: boolean }> => {
      const { userId, email: name, isOperator, isRecent } = await findPerson(ctx, deps);
      if (!isOperator) throw new HttpError('unknown_endpoint');
      return { kind: 'user', userId, name, requestId: ctx.state.requestId, isRecent };
    },
  };
}

/** Finds the reader that follows a link to a file of an account; undefined if they are not signed in, or have no role in it. */
export async function authenticateLinkVisitor(
  ctx: Context,
  { db, console: { publicUrl } }: SessionDeps,
  accountId: string,
): Promise<PersonOfAccount | undefined> {
  refuseForeignLink(ctx, publicUrl);
  const token = sessionToken(ctx, publicUrl);
  const session =
    token === undefined ? undefined : await findAndTouchSession(db, token, { accountId, isBackground: false });
  const role = session && roleIn(session);
  if (session === undefined || role === undefined) return undefined;
  ctx.state.userId = session.userId;
  ctx.state.accountId = accountId;
  return { session, accountId, role };
}

const mePath = '/api/console/v1/me';

/** Every invalid cookie gets the same 401. */
async function findPerson(ctx: Context, { db, console: { publicUrl } }: SessionDeps): Promise<SessionWithRole> {
  if (ctx.get('Authorization') !== '') throw new HttpError('not_signed_in');
  requireOwnPage(ctx, publicUrl);
  const token = sessionToken(ctx, publicUrl);
  const accountId = namedAccount(ctx);
  const isBackground = ctx.get('Videogen-Background') === '1';
  const lookup = { accountId: isUuid(accountId) ? accountId : undefined, isBackground };
  const session = token === undefined ? undefined : await findAndTouchSession(db, token, lookup);
  if (session === undefined) {
    // The response to a read may arrive after a renewal, and must not clear the new cookie.
    const isCleared = ctx.method !== 'GET' || (ctx.path === mePath && !isBackground);
    throw new HttpError(
      'not_signed_in',
      isCleared ? { headers: { 'Set-Cookie': clearedSessionCookie(publicUrl) } } : {},
    );
  }
  ctx.state.userId = session.userId;
  return session;
}

async function findMember(ctx: Context, deps: SessionDeps, effect: Effect): Promise<PersonOfAccount> {
  const session = await findPerson(ctx, deps);
  requireOwnRights(ctx, session, effect);
  const role = roleIn(session);
  if (role === undefined) throw new HttpError('account_not_found');
  const accountId = namedAccount(ctx);
  ctx.state.accountId = accountId;
  return { session, accountId, role };
}

/** An operator who views the account reads what its owners read. */
function roleIn({ isView, role }: SessionWithRole): Role | undefined {
  return isView ? 'owner' : role;
}

/** An operator's view of an account has the rights of its owner to read. Every request that may change something is refused. */
function requireOwnRights({ method }: Context, { isView }: SessionWithRole, { changesNothing }: Effect): void {
  if (isView && method !== 'GET' && changesNothing !== true) throw new HttpError('read_only_view');
}

/** In lower case, as in the database: the account's secrets are encrypted with the id. */
function namedAccount(ctx: Context): string {
  return ctx.get(accountHeader).toLowerCase();
}

export function requireRecentProof({ isRecent }: { readonly isRecent: boolean }): void {
  if (!isRecent) throw new HttpError('reauthentication_required');
}

const maxAgentLength = 300;

/** The live session of a browser that signs in, which the new one replaces. */
export async function findBrowserSession(ctx: Context, { db, console: { publicUrl } }: SessionDeps) {
  const token = sessionToken(ctx, publicUrl);
  return token === undefined ? undefined : findAndTouchSession(db, token, { isBackground: true });
}

/** The address and browser of a request, for lists of sessions and security events. */
export function addressAndUserAgentOf(ctx: Context) {
  const userAgent = ctx
    .get('User-Agent')
    .replaceAll(/[^\x20-\x7e]/g, '')
    .slice(0, maxAgentLength);
  return { address: ctx.state.clientAddress(), userAgent };
}
