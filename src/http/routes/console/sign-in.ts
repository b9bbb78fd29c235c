import { z } from 'zod';
import { maxEmailLength, maxPasswordLength, normalEmail } from '../../../domain/user.ts';
import { findLink, type Link, linkPurposes } from '../../../stores/one-time-links.ts';
import { roles } from '../../../domain/role.ts';
import { acceptLink, reauthenticate, signIn, signOut } from '../../../stores/sign-in.ts';
import { findSession } from '../../../stores/sessions.ts';
import { findUserByEmail, hasOperator } from '../../../stores/users.ts';
import { answerSignedIn, cookieHeader, meSchema, presentMe } from '../../console/answer-signed-in.ts';
import { originOf } from '../../console/authenticate-session.ts';
import { checkPassword, hashChosenPassword } from '../../console/check-password.ts';
import { relyingParty } from '../../console/passkey-ceremony.ts';
import { clearedCookie, sessionToken } from '../../console/session-cookie.ts';
import type { Context } from '../../context.ts';
import { defineEndpoint } from '../../define-endpoint.ts';
import { existing, HttpError, invalidRequest } from '../../errors.ts';
import { required, unixMs } from '../../fields.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { limitSignIns } from '../../limits/rate-limits.ts';

export const emailField = z
  .string({ error: required('must be an e-mail address') })
  .max(maxEmailLength, { error: 'must be an e-mail address' })
  .transform(normalEmail)
  .pipe(z.email({ error: 'must be an e-mail address' }));

/** Any text: what is no good password is told by its own rules, and a wrong one is only wrong. */
export const passwordField = z
  .string({ error: required('must be a text') })
  // Two halves of a character count as two.
  .max(2 * maxPasswordLength, { error: `must be at most ${maxPasswordLength} characters` });

const tokenField = z.string({ error: required('must be the text after the # of the link') }).max(200);

const options = defineEndpoint({
  operationId: 'consoleOptions',
  route: 'GET /api/console/v1/options',
  scope: 'none',
  summary: 'How people can sign in',
  data: z.strictObject({
    passwordSignIn: z.boolean(),
    passkeys: z.boolean(),
    oidc: z
      .strictObject({ name: z.string() })
      .nullable()
      .meta({
        description:
          'An identity provider; a browser begins at `/console/oidc/start`. With `?proof=1&next=PATH` somebody who is signed in proves ' +
          'again who they are there, and comes back to that page of the console.',
      }),
    needsSetUp: z.boolean().meta({ description: 'Nobody can sign in as an operator yet: `npm start` prints a link.' }),
  }),
  failures: ['database_unavailable', 'database_busy'],
  handler: async (_call, { db, console: { publicUrl, passwordSignIn, oidc } }) => {
    const { exists } = await hasOperator(db);
    const passkeys = relyingParty(publicUrl) !== undefined;
    return { passwordSignIn, passkeys, oidc: oidc === undefined ? null : { name: oidc.name }, needsSetUp: !exists };
  },
});

const showLink = defineEndpoint({
  operationId: 'showLink',
  route: 'POST /api/console/v1/links/show',
  scope: 'none',
  summary: 'What a one-time link is for',
  body: z.strictObject({ token: tokenField }),
  data: z.strictObject({
    purpose: z.enum(linkPurposes),
    email: z.string().nullable(),
    accountName: z.string().nullable(),
    role: z.enum(roles).nullable(),
    userExists: z
      .boolean()
      .meta({ description: 'The person is known, and an invitation asks for the password they have.' }),
    expireTime: unixMs,
  }),
  failures: ['link_not_found', 'database_unavailable', 'database_busy'],
  handler: async ({ input: { token } }, { db }) => {
    const { link, user } = await linkOf(db, token);
    const { purpose, email = null, accountName = null, role = null, expiresAt: expireTime } = link;
    return { purpose, email, accountName, role, userExists: user !== undefined, expireTime };
  },
});

/** The link and whom it is for. One to somebody who is disabled, or to reset what nobody has, is none. */
async function linkOf(db: HttpDeps['db'], token: string) {
  const link = existing(await findLink(db, token), 'link_not_found');
  const user = link.email === undefined ? undefined : await findUserByEmail(db, link.email);
  if (user?.isDisabled === true || (link.purpose === 'reset' && user === undefined))
    throw new HttpError('link_not_found');
  return { link, user };
}

const accept = defineEndpoint({
  operationId: 'acceptLink',
  route: 'POST /api/console/v1/links/accept',
  scope: 'none',
  summary: 'Use a one-time link',
  description:
    'Signs in. A set-up makes the first operator, who also owns the first account. Of an invitation to somebody who has a ' +
    'password already, `password` must be that one: the link alone opens nothing that exists.',
  body: z.strictObject({ token: tokenField, email: emailField.nullish(), password: passwordField }),
  data: meSchema,
  answerHeaders: cookieHeader,
  failures: [
    'link_not_found',
    'sign_in_failed',
    'too_many_sign_ins',
    'password_sign_in_off',
    'database_unavailable',
    'database_busy',
  ],
  handler: async ({ input, ctx }, deps) => {
    const { link } = await linkOf(deps.db, input.token);
    const email = link.email ?? input.email;
    if (email === undefined || email === null) throw invalidRequest([{ path: 'email', message: 'is required' }]);
    const hashes = await provenOrChosen(ctx, deps, { link, email, password: input.password });
    const before = await sessionBefore(ctx, deps);
    const made = await acceptLink(deps.db, { link, email, ...hashes, origin: originOf(ctx), before });
    return answerSignedIn(ctx, deps, existing(made, 'link_not_found'));
  },
});

type Given = { readonly link: Link; readonly email: string; readonly password: string };

/** The hash of the password that the person chose, or of the one that they have and proved. */
async function provenOrChosen(ctx: Context, deps: HttpDeps, { link, email, password }: Given) {
  if (!deps.console.passwordSignIn) throw new HttpError('password_sign_in_off');
  const user = await findUserByEmail(deps.db, email);
  if (link.purpose === 'reset' || user === undefined)
    return { passwordHash: await hashChosenPassword(password, email) };
  limitSignIns(ctx, deps.signIns);
  const { checkedHash } = await checkPassword(ctx, deps, { email, password, session: await sessionBefore(ctx, deps) });
  return { checkedHash };
}

const signInWithPassword = defineEndpoint({
  operationId: 'signIn',
  route: 'POST /api/console/v1/sign-in',
  scope: 'none',
  summary: 'Sign in with a password',
  description: 'Sets the cookie of the session. The session that the browser had before ends.',
  body: z.strictObject({ email: emailField, password: passwordField }),
  data: meSchema,
  answerHeaders: cookieHeader,
  failures: ['sign_in_failed', 'too_many_sign_ins', 'password_sign_in_off', 'database_unavailable', 'database_busy'],
  handler: async ({ input: { email, password }, ctx }, deps) => {
    limitSignIns(ctx, deps.signIns);
    const before = await sessionBefore(ctx, deps);
    const { user, checkedHash } = await checkPassword(ctx, deps, { email, password, session: before });
    const made = await signIn(deps.db, { user, origin: originOf(ctx), means: 'password', checkedHash, before });
    return answerSignedIn(ctx, deps, made);
  },
});

/** The session of this browser, if it has one. */
export async function sessionBefore(ctx: Context, { db, console: { publicUrl } }: HttpDeps) {
  const token = sessionToken(ctx, publicUrl);
  return token === undefined ? undefined : findSession(db, token, { isBackground: true });
}

const signOutHere = defineEndpoint({
  operationId: 'signOut',
  route: 'POST /api/console/v1/sign-out',
  scope: 'session',
  summary: 'End this session',
  data: z.strictObject({}),
  answerHeaders: { 'Set-Cookie': 'The browser forgets the cookie.' },
  handler: async ({ session, ctx }, { db, console: { publicUrl } }) => {
    await signOut(db, session, originOf(ctx));
    ctx.append('Set-Cookie', clearedCookie(publicUrl));
    return {};
  },
});

const me = defineEndpoint({
  operationId: 'getMe',
  route: 'GET /api/console/v1/me',
  scope: 'session',
  summary: 'Who is signed in',
  data: meSchema,
  handler: ({ session }, deps) => presentMe(deps, session),
});

const prove = defineEndpoint({
  operationId: 'reauthenticate',
  route: 'POST /api/console/v1/reauthenticate',
  scope: 'session',
  summary: 'Prove again who is signed in',
  description:
    'For ten minutes afterwards, what answers `reauthentication_required` is allowed. The session gets a new cookie, and the ' +
    'old one is dead.',
  body: z.strictObject({ password: passwordField }),
  data: meSchema,
  answerHeaders: cookieHeader,
  failures: ['sign_in_failed', 'too_many_sign_ins', 'password_sign_in_off'],
  handler: async ({ session, input: { password }, ctx }, deps) => {
    const { checkedHash } = await checkPassword(ctx, deps, { email: session.email, password, session });
    const proof = { means: 'password', checkedHash } as const;
    return answerSignedIn(ctx, deps, await reauthenticate(deps.db, session, originOf(ctx), proof));
  },
});

export const signInEndpoints = [options, showLink, accept, signInWithPassword, signOutHere, me, prove];
