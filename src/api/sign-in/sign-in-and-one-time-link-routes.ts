import { z } from 'zod';
import { findLink, type Link, linkPurposes } from '../../accounts/sign-in/one-time-links.ts';
import { roles } from '../../accounts/people/account-roles-and-scopes.ts';
import type { SignedIn } from '../../accounts/sign-in/signed-in-type-and-session-lifetimes.ts';
import { confirmSignUpAndSignIn, maxAccountNameLength } from '../../credits/sign-up/confirm-sign-up.ts';
import { signUpModes } from '../../credits/sign-up/request-sign-up.ts';
import {
  acceptLinkAndSignIn,
  renewSessionWithVerifiedProof,
  signInWithVerifiedProof,
  signOut,
} from '../../accounts/sign-in/sign-in.ts';
import { findUserByEmail, hasOperator } from '../../accounts/people/users.ts';
import { setCookieAndReadMe, sessionCookieHeaderDoc, meSchema, readMe } from './read-me-and-set-session-cookie.ts';
import { findBrowserSession, addressAndUserAgentOf, type SessionDeps } from './authenticate-session.ts';
import {
  verifyPasswordAttempt,
  hashNewPassword,
  type NewPasswordDeps,
  type PasswordDeps,
} from './verify-attempt-and-hash-new-password.ts';
import { emailField, passwordField } from '../people/email-and-password-fields.ts';
import { relyingParty } from './passkey-ceremony.ts';
import { clearedSessionCookie } from './session-and-oidc-visit-cookies.ts';
import type { Context } from '../core/request-context-and-responses.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { databaseFailures } from '../core/error-catalogue.ts';
import { requireExisting, HttpError, invalidRequest } from '../core/http-error.ts';
import { oneLineTextField, requiredOrInvalidMessage, unixMsSchema } from '../core/request-fields.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import type { IdentityProviderDeps } from './oidc-routes.ts';
import type { SignUpPolicy } from '../../credits/sign-up/request-sign-up.ts';
import { limitSignIns, type RateLimiter } from '../core/limits/rate-limits.ts';

const tokenField = z.string({ error: requiredOrInvalidMessage('must be the text after the # of the link') }).max(200);

type LinkDeps = WithDb & { readonly signUp: SignUpPolicy };
type OfferDeps = LinkDeps & SessionDeps & PasswordDeps & IdentityProviderDeps;
type SignInDeps = SessionDeps & PasswordDeps & { readonly signIns: RateLimiter };

const options = defineEndpoint({
  operationId: 'consoleOptions',
  route: 'GET /api/console/v1/options',
  scope: 'none',
  summary: 'Get the ways to sign in',
  data: z.strictObject({
    passwordSignIn: z.boolean(),
    passkeys: z.boolean(),
    oidc: z
      .strictObject({ name: z.string() })
      .nullable()
      .meta({
        description:
          'An identity provider. A sign-in begins at `/console/oidc/start`. With `?proof=1&next=PATH` a signed-in person ' +
          'authenticates again and returns to that page of the console.',
      }),
    signUp: z.enum(signUpModes).meta({
      description: 'With `code`, sign-up requires a redemption code; with `domain`, an e-mail address of some domains.',
    }),
    needsSetUp: z.boolean().meta({ description: 'The installation has no operator yet. `npm start` prints the link.' }),
  }),
  failures: [...databaseFailures],
  handler: async (
    _call,
    { db, signUp: { mode: signUp }, console: { publicUrl, passwordSignIn, oidc: provider } }: OfferDeps,
  ) => {
    const { exists } = await hasOperator(db);
    const passkeys = relyingParty(publicUrl) !== undefined;
    const oidc = provider === undefined ? null : { name: provider.name };
    return { passwordSignIn, passkeys, oidc, signUp, needsSetUp: !exists };
  },
});

const showLink = defineEndpoint({
  operationId: 'showLink',
  route: 'POST /api/console/v1/links/show',
  scope: 'none',
  summary: 'Describe a one-time link',
  body: z.strictObject({ token: tokenField }),
  data: z.strictObject({
    purpose: z.enum(linkPurposes),
    email: z.string().nullable(),
    accountName: z.string().nullable(),
    role: z.enum(roles).nullable(),
    userExists: z.boolean().meta({ description: 'The person accepts an invitation with their existing password.' }),
    expireTime: unixMsSchema,
  }),
  failures: ['link_not_found', ...databaseFailures],
  handler: async ({ input: { token } }, deps: LinkDeps) => {
    const { link, user } = await findLinkAndUser(deps, token);
    const { purpose, email = null, accountName = null, role = null, expiresAt: expireTime } = link;
    return { purpose, email, accountName, role, userExists: user !== undefined, expireTime };
  },
});

/** Finds an open link and its user. Links to disabled users, resets of unknown users and sign-ups of known ones are not found. */
async function findLinkAndUser({ db, signUp }: LinkDeps, token: string) {
  const link = requireExisting(await findLink(db, token), 'link_not_found');
  const user = link.email === undefined ? undefined : await findUserByEmail(db, link.email);
  const isUseless =
    (link.purpose === 'reset' && user === undefined) ||
    (link.purpose === 'confirm' && (user !== undefined || signUp.mode === 'off'));
  if (user?.isDisabled === true || isUseless) throw new HttpError('link_not_found');
  return { link, user };
}

const accept = defineEndpoint({
  operationId: 'acceptLink',
  route: 'POST /api/console/v1/links/accept',
  scope: 'none',
  summary: 'Accept a one-time link',
  description:
    'Signs the person in. A setup link makes the first operator, who also owns the first account. A link of a sign-up opens an ' +
    'account. For an invitation to an existing user, `password` must be their current password.',
  body: z.strictObject({
    token: tokenField,
    email: emailField.nullish().meta({ description: 'Only for a setup link.' }),
    password: passwordField,
    accountName: oneLineTextField(maxAccountNameLength)
      .nullish()
      .meta({ description: 'The name of the account that a sign-up opens.' }),
  }),
  data: meSchema,
  answerHeaders: sessionCookieHeaderDoc,
  failures: [
    'link_not_found',
    'code_invalid',
    'sign_in_failed',
    'too_many_sign_ins',
    'password_sign_in_off',
    ...databaseFailures,
  ],
  handler: async ({ input, ctx }, deps: LinkDeps & SignInDeps & NewPasswordDeps) => {
    const { link } = await findLinkAndUser(deps, input.token);
    const email = link.email ?? input.email;
    if (email === undefined || email === null) throw invalidRequest([{ path: 'email', message: 'is required' }]);
    const before = await findBrowserSession(ctx, deps);
    const hashes = await hashesFor(ctx, deps, { link, email, password: input.password, session: before });
    const acceptance = { link, email, ...hashes, origin: addressAndUserAgentOf(ctx), before };
    const { requestId } = ctx.state;
    const accountName = input.accountName ?? undefined;
    const signedIn = await (link.purpose === 'confirm'
      ? confirmSignUpAndSignIn(deps.db, { ...acceptance, accountName, policy: deps.signUp, requestId })
      : acceptLinkAndSignIn(deps.db, acceptance));
    if (signedIn === 'code_invalid') throw new HttpError(signedIn);
    return setCookieAndReadMe(ctx, deps, requireExisting(signedIn, 'link_not_found'));
  },
});

type Given = {
  readonly link: Link;
  readonly email: string;
  readonly password: string;
  readonly session: SignedIn | undefined;
};

/** Hashes a new password, or verifies that of an existing user. */
async function hashesFor(ctx: Context, deps: SignInDeps & NewPasswordDeps, { link, email, password, session }: Given) {
  if (!deps.console.passwordSignIn) throw new HttpError('password_sign_in_off');
  const user = await findUserByEmail(deps.db, email);
  if (link.purpose === 'reset' || user === undefined)
    return { passwordHash: await hashNewPassword(deps, { password, email }) };
  limitSignIns(ctx, deps.signIns);
  const { checkedHash } = await verifyPasswordAttempt(ctx, deps, { email, password, session });
  return { checkedHash };
}

const signInWithPassword = defineEndpoint({
  operationId: 'signIn',
  route: 'POST /api/console/v1/sign-in',
  scope: 'none',
  summary: 'Sign in with a password',
  description: "Sets the session cookie. The browser's earlier session ends.",
  body: z.strictObject({ email: emailField, password: passwordField }),
  data: meSchema,
  answerHeaders: sessionCookieHeaderDoc,
  failures: ['sign_in_failed', 'too_many_sign_ins', 'password_sign_in_off', ...databaseFailures],
  handler: async ({ input: { email, password }, ctx }, deps: SignInDeps) => {
    limitSignIns(ctx, deps.signIns);
    const before = await findBrowserSession(ctx, deps);
    const { user, checkedHash } = await verifyPasswordAttempt(ctx, deps, { email, password, session: before });
    const signedIn = await signInWithVerifiedProof(deps.db, {
      user,
      origin: addressAndUserAgentOf(ctx),
      means: 'password',
      checkedHash,
      before,
    });
    return setCookieAndReadMe(ctx, deps, signedIn);
  },
});

const signOutHere = defineEndpoint({
  operationId: 'signOut',
  route: 'POST /api/console/v1/sign-out',
  scope: 'session',
  summary: 'Sign out',
  data: z.strictObject({}),
  answerHeaders: { 'Set-Cookie': 'Clears the session cookie.' },
  handler: async ({ session, ctx }, { db, console: { publicUrl } }: SessionDeps) => {
    await signOut(db, session, addressAndUserAgentOf(ctx));
    ctx.append('Set-Cookie', clearedSessionCookie(publicUrl));
    return {};
  },
});

const me = defineEndpoint({
  operationId: 'getMe',
  route: 'GET /api/console/v1/me',
  scope: 'session',
  summary: 'Get the signed-in person',
  data: meSchema,
  handler: ({ session }, deps) => readMe(deps, session),
});

const authenticateAgain = defineEndpoint({
  operationId: 'reauthenticate',
  route: 'POST /api/console/v1/reauthenticate',
  scope: 'session',
  summary: 'Authenticate again with a password',
  description:
    'For the next ten minutes, requests that require a recent authentication are allowed. Replaces the session cookie.',
  body: z.strictObject({ password: passwordField }),
  data: meSchema,
  answerHeaders: sessionCookieHeaderDoc,
  failures: ['sign_in_failed', 'too_many_sign_ins', 'password_sign_in_off'],
  handler: async ({ session, input: { password }, ctx }, deps: SessionDeps & PasswordDeps) => {
    const { checkedHash } = await verifyPasswordAttempt(ctx, deps, { email: session.email, password, session });
    const proof = { means: 'password', checkedHash } as const;
    return setCookieAndReadMe(
      ctx,
      deps,
      await renewSessionWithVerifiedProof(deps.db, session, addressAndUserAgentOf(ctx), proof),
    );
  },
});

export const signInAndOneTimeLinkEndpoints = [
  options,
  showLink,
  accept,
  signInWithPassword,
  signOutHere,
  me,
  authenticateAgain,
];
