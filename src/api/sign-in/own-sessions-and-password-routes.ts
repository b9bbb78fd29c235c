import { validate as isUuid } from 'uuid';
import { z } from 'zod';
import { type ListedSession, listSessions } from '../../accounts/sign-in/sessions.ts';
import { setPasswordAndEndOtherSessions, endOtherSessions, endOwnSession } from '../../accounts/sign-in/sign-in.ts';
import { setCookieAndReadMe, sessionCookieHeaderDoc, meSchema } from './read-me-and-set-session-cookie.ts';
import { addressAndUserAgentOf, type SessionDeps } from './authenticate-session.ts';
import {
  verifyPasswordAttempt,
  hashNewPassword,
  type NewPasswordDeps,
  type PasswordDeps,
} from './verify-attempt-and-hash-new-password.ts';
import { passwordField } from '../people/email-and-password-fields.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { requireExisting } from '../core/http-error.ts';
import { uncheckedIdField, unixMsSchema } from '../core/request-fields.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';

const sessionSchema = z.strictObject({
  sessionId: z.string(),
  isCurrent: z.boolean(),
  createTime: unixMsSchema,
  lastUseTime: unixMsSchema.meta({ description: 'Exact to about a minute.' }),
  expireTime: unixMsSchema.meta({ description: 'When the session ends unless it is used.' }),
  address: z.string(),
  userAgent: z.string(),
});

export function presentSession(session: ListedSession, currentId: string) {
  const { createdAt: createTime, lastUsedAt: lastUseTime, expiresAt: expireTime } = session;
  const isCurrent = session.sessionId === currentId;
  return pickRowFieldsBySchema(sessionSchema, { ...session, isCurrent, createTime, lastUseTime, expireTime });
}

const list = defineEndpoint({
  operationId: 'listSessions',
  route: 'GET /api/console/v1/sessions',
  scope: 'session',
  summary: 'List sessions',
  data: z.strictObject({ sessions: z.array(sessionSchema) }),
  handler: async ({ session: { userId, sessionId } }, { db }) => ({
    sessions: (await listSessions(db, userId)).map((session) => presentSession(session, sessionId)),
  }),
});

const end = defineEndpoint({
  operationId: 'endSession',
  route: 'POST /api/console/v1/sessions/end',
  scope: 'session',
  summary: 'End a session',
  body: z.strictObject({ sessionId: uncheckedIdField }),
  data: z.strictObject({ sessionId: z.string() }),
  failures: ['session_not_found'],
  handler: async ({ session, input: { sessionId }, ctx }, { db }) => {
    const ended = isUuid(sessionId)
      ? await endOwnSession(db, session, addressAndUserAgentOf(ctx), sessionId)
      : undefined;
    return requireExisting(ended, 'session_not_found');
  },
});

const endOthers = defineEndpoint({
  operationId: 'endOtherSessions',
  route: 'POST /api/console/v1/sessions/end-others',
  scope: 'session',
  summary: 'End all other sessions',
  data: z.strictObject({ ended: z.int().nonnegative() }),
  handler: async ({ session, ctx }, { db }) => ({
    ended: await endOtherSessions(db, session, addressAndUserAgentOf(ctx)),
  }),
});

type Deps = SessionDeps & PasswordDeps & NewPasswordDeps;

const password = defineEndpoint({
  operationId: 'changePassword',
  route: 'POST /api/console/v1/password',
  scope: 'session',
  summary: 'Change the password',
  description: 'Ends all other sessions and replaces the cookie of this one.',
  body: z.strictObject({ currentPassword: passwordField, newPassword: passwordField }),
  data: meSchema,
  answerHeaders: sessionCookieHeaderDoc,
  failures: ['sign_in_failed', 'too_many_sign_ins', 'password_sign_in_off'],
  handler: async ({ session, input: { currentPassword, newPassword }, ctx }, deps: Deps) => {
    const { checkedHash } = await verifyPasswordAttempt(ctx, deps, {
      email: session.email,
      password: currentPassword,
      session,
    });
    const passwordHash = await hashNewPassword(deps, {
      password: newPassword,
      email: session.email,
      path: 'newPassword',
    });
    const hashes = { checkedHash, passwordHash };
    return setCookieAndReadMe(
      ctx,
      deps,
      await setPasswordAndEndOtherSessions(deps.db, session, addressAndUserAgentOf(ctx), hashes),
    );
  },
});

export const sessionAndPasswordEndpoints = [list, end, endOthers, password];
