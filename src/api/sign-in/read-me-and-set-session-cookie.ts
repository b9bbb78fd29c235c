import { z } from 'zod';
import { roles } from '../../accounts/people/account-roles-and-scopes.ts';
import type { SignedIn } from '../../accounts/sign-in/signed-in-type-and-session-lifetimes.ts';
import { accountsOfUser, type OwnAccount } from '../../accounts/people/memberships.ts';
import { type AccountView, findAccountView } from '../../accounts/people/view-account-as-owner.ts';
import { announcementSchema, presentAnnouncement } from '../operators/announcement-routes.ts';
import { readAnnouncement } from '../../accounts/operators/announcement.ts';
import type { SessionWithToken } from '../../accounts/sign-in/sessions.ts';
import type { Context } from '../core/request-context-and-responses.ts';
import { HttpError } from '../core/http-error.ts';
import { orNull, unixMsSchema } from '../core/request-fields.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import type { SessionDeps } from './authenticate-session.ts';
import { setSessionCookie } from './session-and-oidc-visit-cookies.ts';

const suspensionSchema = z
  .strictObject({ startTime: unixMsSchema, reason: z.string().nullable() })
  .nullable()
  .meta({ description: 'Null for an active account. `reason` is what the operator wrote.' });

export const meSchema = z
  .strictObject({
    user: z.strictObject({ userId: z.string(), email: z.string(), isOperator: z.boolean() }),
    accounts: z
      .array(
        z.strictObject({
          accountId: z.string(),
          name: z.string(),
          role: z.enum(roles),
          suspension: suspensionSchema,
        }),
      )
      .meta({ description: 'By name; at most 200.' }),
    view: z
      .strictObject({ accountId: z.string(), name: z.string(), suspension: suspensionSchema, expireTime: unixMsSchema })
      .nullable()
      .meta({ description: 'The account that an operator views as its owner sees it; null without one.' }),
    announcement: orNull(announcementSchema).meta({ description: 'The announcement of operators to everyone.' }),
    session: z.strictObject({
      sessionId: z.string(),
      authTime: unixMsSchema.meta({ description: 'When the person last authenticated.' }),
      expireTime: unixMsSchema,
    }),
  })
  .meta({ id: 'Me' });

/** The headers of a response that signs in. */
export const sessionCookieHeaderDoc = { 'Set-Cookie': 'The session cookie.' };

export async function readMe({ db }: WithDb, session: SignedIn) {
  const { userId, email, isOperator, sessionId, authenticatedAt: authTime, expiresAt: expireTime } = session;
  const [accounts, view, announcement] = await Promise.all([
    accountsOfUser(db, userId),
    isOperator ? findAccountView(db, sessionId) : undefined,
    readAnnouncement(db),
  ]);
  return {
    user: { userId, email, isOperator },
    accounts: accounts.map(({ accountId, name, role, ...account }) => {
      return { accountId, name, role, suspension: suspensionOf(account) };
    }),
    view: view === undefined ? null : presentView(view),
    announcement: announcement === undefined ? null : presentAnnouncement(announcement),
    session: { sessionId, authTime, expireTime },
  };
}

function presentView({ accountId, name, expiresAt: expireTime, ...account }: AccountView) {
  return { accountId, name, suspension: suspensionOf(account), expireTime };
}

function suspensionOf({ suspendedAt, suspensionReason }: Pick<OwnAccount, 'suspendedAt' | 'suspensionReason'>) {
  return suspendedAt === undefined ? null : { startTime: suspendedAt, reason: suspensionReason ?? null };
}

/** Sets the cookie of a new or renewed session; throws if the session has ended. */
export async function setCookieAndReadMe(ctx: Context, deps: SessionDeps, signedIn: SessionWithToken | undefined) {
  if (signedIn === undefined) throw new HttpError('not_signed_in');
  const me = await readMe(deps, signedIn.session);
  setSessionCookie(ctx, deps.console.publicUrl, signedIn);
  return me;
}
