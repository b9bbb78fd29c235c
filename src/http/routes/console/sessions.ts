import { validate as isUuid } from 'uuid';
import { z } from 'zod';
import { recordEvent } from '../../../stores/security-events.ts';
import { endSession, endSessions, listSessions } from '../../../stores/sessions.ts';
import { changePassword } from '../../../stores/sign-in.ts';
import { answerSignedIn, cookieHeader, meSchema } from '../../console/answer-signed-in.ts';
import { originOf } from '../../console/authenticate-session.ts';
import { checkPassword, hashChosenPassword } from '../../console/check-password.ts';
import { defineEndpoint } from '../../define-endpoint.ts';
import { existing } from '../../errors.ts';
import { opaqueId, unixMs } from '../../fields.ts';
import { view } from '../../presenters/view.ts';
import { passwordField } from './sign-in.ts';

const sessionSchema = z.strictObject({
  sessionId: z.string(),
  isCurrent: z.boolean(),
  createTime: unixMs,
  lastUseTime: unixMs.meta({ description: 'Exact to about a minute.' }),
  expireTime: unixMs.meta({ description: 'When it ends unless it is used before.' }),
  address: z.string(),
  userAgent: z.string(),
});

const list = defineEndpoint({
  operationId: 'listSessions',
  route: 'GET /api/console/v1/sessions',
  scope: 'session',
  summary: 'Where the person is signed in',
  data: z.strictObject({ sessions: z.array(sessionSchema) }),
  handler: async ({ session }, { db }) => {
    const sessions = await listSessions(db, session.userId);
    return {
      sessions: sessions.map(({ createdAt: createTime, lastUsedAt: lastUseTime, expiresAt: expireTime, ...one }) =>
        view(sessionSchema, {
          ...one,
          isCurrent: one.sessionId === session.sessionId,
          createTime,
          lastUseTime,
          expireTime,
        }),
      ),
    };
  },
});

const end = defineEndpoint({
  operationId: 'endSession',
  route: 'POST /api/console/v1/sessions/end',
  scope: 'session',
  summary: 'End one session of the person',
  body: z.strictObject({ sessionId: opaqueId }),
  data: z.strictObject({ sessionId: z.string() }),
  failures: ['session_not_found'],
  handler: async ({ session: { userId, email }, input: { sessionId }, ctx }, { db }) => {
    const ended = isUuid(sessionId)
      ? await db.transaction(async (run) => {
          const found = await endSession({ run }, userId, sessionId);
          if (found !== undefined) {
            const details = { sessions: 1 };
            await recordEvent({ run }, { kind: 'session_ended', userId, email, origin: originOf(ctx), details });
          }
          return found;
        })
      : undefined;
    return existing(ended, 'session_not_found');
  },
});

const endOthers = defineEndpoint({
  operationId: 'endOtherSessions',
  route: 'POST /api/console/v1/sessions/end-others',
  scope: 'session',
  summary: 'Sign out everywhere else',
  data: z.strictObject({ ended: z.int().nonnegative() }),
  handler: async ({ session: { userId, email, sessionId }, ctx }, { db }) => {
    return db.transaction(async (run) => {
      const ended = await endSessions({ run }, userId, sessionId);
      const details = { sessions: ended.length };
      await recordEvent({ run }, { kind: 'session_ended', userId, email, origin: originOf(ctx), details });
      return { ended: ended.length };
    });
  },
});

const password = defineEndpoint({
  operationId: 'changePassword',
  route: 'POST /api/console/v1/password',
  scope: 'session',
  summary: "Change the person's password",
  description: 'Every other session ends, and this one gets a new cookie.',
  body: z.strictObject({ currentPassword: passwordField, newPassword: passwordField }),
  data: meSchema,
  answerHeaders: cookieHeader,
  failures: ['sign_in_failed', 'too_many_sign_ins', 'password_sign_in_off'],
  handler: async ({ session, input: { currentPassword, newPassword }, ctx }, deps) => {
    const { checkedHash } = await checkPassword(ctx, deps, {
      email: session.email,
      password: currentPassword,
      session,
    });
    const passwordHash = await hashChosenPassword(newPassword, session.email, 'newPassword');
    const hashes = { checkedHash, passwordHash };
    return answerSignedIn(ctx, deps, await changePassword(deps.db, session, originOf(ctx), hashes));
  },
});

export const sessionEndpoints = [list, end, endOthers, password];
