import { z } from 'zod';
import { roles } from '../../domain/role.ts';
import type { SignedIn } from '../../domain/session.ts';
import { accountsOfUser } from '../../stores/memberships.ts';
import type { NewSession } from '../../stores/sessions.ts';
import type { Context } from '../context.ts';
import { HttpError } from '../errors.ts';
import { unixMs } from '../fields.ts';
import type { HttpDeps } from '../http-deps.ts';
import { giveCookie } from './session-cookie.ts';

/** The person, what they may open, and their session. */
export const meSchema = z
  .strictObject({
    user: z.strictObject({ userId: z.string(), email: z.string(), isOperator: z.boolean() }),
    accounts: z
      .array(
        z.strictObject({
          accountId: z.string(),
          name: z.string(),
          role: z.enum(roles),
          suspension: z
            .strictObject({ startTime: unixMs, reason: z.string().nullable() })
            .nullable()
            .meta({ description: 'With the reason that the operator gave; null for an active account.' }),
        }),
      )
      .meta({ description: 'By name; at most 200.' }),
    session: z.strictObject({
      sessionId: z.string(),
      authTime: unixMs.meta({ description: 'When the person last proved who they are.' }),
      expireTime: unixMs,
    }),
  })
  .meta({ id: 'Me' });

/** For the description of an answer that signs in. */
export const cookieHeader = { 'Set-Cookie': 'The cookie of the session.' };

export async function presentMe({ db }: Pick<HttpDeps, 'db'>, session: SignedIn) {
  const { userId, email, isOperator, sessionId, authenticatedAt: authTime, expiresAt: expireTime } = session;
  const accounts = (await accountsOfUser(db, userId)).map(
    ({ accountId, name, role, suspendedAt, suspensionReason }) => {
      const suspension =
        suspendedAt === undefined ? null : { startTime: suspendedAt, reason: suspensionReason ?? null };
      return { accountId, name, role, suspension };
    },
  );
  return { user: { userId, email, isOperator }, accounts, session: { sessionId, authTime, expireTime } };
}

/** Gives the browser the cookie of a new session, or the new one of a session that was renewed. */
export async function answerSignedIn(ctx: Context, deps: HttpDeps, made: NewSession | undefined) {
  if (made === undefined) throw new HttpError('not_signed_in');
  const me = await presentMe(deps, made.session);
  giveCookie(ctx, deps.console.publicUrl, made.token, made.session.expiresAt);
  return me;
}
