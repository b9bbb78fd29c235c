import { validate as isUuid } from 'uuid';
import { z } from 'zod';
import {
  addPasskey,
  findPasskey,
  listPasskeys,
  maxPasskeys,
  type Passkey,
  removePasskey,
} from '../../accounts/sign-in/passkey-rows.ts';
import {
  createPendingChallenge,
  consumePendingChallenge,
  type ChallengeKind,
} from '../../accounts/sign-in/pending-challenges.ts';
import { recordSecurityEvent } from '../../accounts/people/security-events.ts';
import { signInWithVerifiedProof } from '../../accounts/sign-in/sign-in.ts';
import { setCookieAndReadMe, sessionCookieHeaderDoc, meSchema } from './read-me-and-set-session-cookie.ts';
import { findBrowserSession, addressAndUserAgentOf, type SessionDeps } from './authenticate-session.ts';
import {
  authenticationOptions,
  browserAnswerField,
  browserOptionsSchema,
  verifyRegistration,
  registrationOptions,
  requireRelyingParty,
  verifyAndReturnUseCounter,
} from './passkey-ceremony.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { databaseFailures } from '../core/error-catalogue.ts';
import { HttpError } from '../core/http-error.ts';
import { uncheckedIdField, oneLineTextField, unixMsSchema } from '../core/request-fields.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { limitSignIns, type RateLimiter } from '../core/limits/rate-limits.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';

const passkeySchema = z
  .strictObject({
    passkeyId: z.string(),
    name: z.string(),
    createTime: unixMsSchema,
    lastUseTime: unixMsSchema.nullable(),
  })
  .meta({ id: 'Passkey' });

export function presentPasskey(passkey: Passkey) {
  return pickRowFieldsBySchema(passkeySchema, {
    ...passkey,
    createTime: passkey.createdAt,
    lastUseTime: passkey.lastUsedAt,
  });
}

const list = defineEndpoint({
  operationId: 'listPasskeys',
  route: 'GET /api/console/v1/passkeys',
  scope: 'session',
  summary: 'List passkeys',
  data: z.strictObject({ passkeys: z.array(passkeySchema) }),
  handler: async ({ session }, { db }) => ({ passkeys: (await listPasskeys(db, session.userId)).map(presentPasskey) }),
});

type SignInDeps = SessionDeps & { readonly signIns: RateLimiter };

async function newChallenge({ db }: WithDb, kind: ChallengeKind, userId?: string): Promise<string> {
  const challenge = await createPendingChallenge(db, { kind, ...(userId !== undefined && { userId }) });
  if (challenge === undefined) throw new HttpError('too_many_sign_ins');
  return challenge;
}

const nameField = oneLineTextField(200).meta({ description: 'Such as the device that the passkey is on.' });

const registerOptions = defineEndpoint({
  operationId: 'passkeyRegistrationOptions',
  route: 'POST /api/console/v1/passkeys/register-options',
  scope: 'session',
  needsRecentProof: true,
  summary: 'Start adding a passkey',
  description: `A person has at most ${maxPasskeys}. Passkeys need https and a host name, or http://localhost.`,
  data: browserOptionsSchema,
  failures: ['passkeys_unavailable', 'too_many_passkeys', 'too_many_sign_ins'],
  handler: async (
    { session: { userId, email } },
    deps: SessionDeps & { readonly brand: { readonly name: string } },
  ) => {
    const party = requireRelyingParty(deps.console.publicUrl);
    const known = await listPasskeys(deps.db, userId);
    if (known.length >= maxPasskeys) throw new HttpError('too_many_passkeys', { data: { limit: maxPasskeys } });
    const challenge = await newChallenge(deps, 'passkey_registration', userId);
    return registrationOptions(party, { service: deps.brand.name, email, challenge, known });
  },
});

const register = defineEndpoint({
  operationId: 'registerPasskey',
  route: 'POST /api/console/v1/passkeys/register',
  scope: 'session',
  summary: 'Add a passkey',
  body: z.strictObject({ name: nameField, response: browserAnswerField }),
  data: passkeySchema,
  failures: ['passkeys_unavailable', 'sign_in_failed', 'too_many_passkeys'],
  handler: async ({ session, input: { name, response }, ctx }, { db, console: { publicUrl } }: SessionDeps) => {
    const party = requireRelyingParty(publicUrl);
    const credential = await verifyRegistration(party, response, async (challenge) => {
      const proof = await consumePendingChallenge(db, 'passkey_registration', challenge);
      return proof?.userId === session.userId;
    });
    const added = await addPasskey(db, session, { name, credential, origin: addressAndUserAgentOf(ctx) });
    if (added === 'not_signed_in') throw new HttpError(added);
    if (added === 'too_many_passkeys') throw new HttpError(added, { data: { limit: maxPasskeys } });
    if (added === 'known_passkey') throw new HttpError('sign_in_failed', { msg: 'the passkey is already registered' });
    return presentPasskey(added);
  },
});

const signInOptions = defineEndpoint({
  operationId: 'passkeySignInOptions',
  route: 'POST /api/console/v1/passkeys/sign-in-options',
  scope: 'none',
  summary: 'Start signing in with a passkey',
  data: browserOptionsSchema,
  failures: ['passkeys_unavailable', 'too_many_sign_ins', ...databaseFailures],
  handler: async ({ ctx }, deps: SignInDeps) => {
    const party = requireRelyingParty(deps.console.publicUrl);
    limitSignIns(ctx, deps.signIns);
    return authenticationOptions(party, await newChallenge(deps, 'passkey_sign_in'));
  },
});

const signInWithPasskey = defineEndpoint({
  operationId: 'signInWithPasskey',
  route: 'POST /api/console/v1/passkeys/sign-in',
  scope: 'none',
  summary: 'Sign in or authenticate again with a passkey',
  description: "Sets the cookie of a new session. The browser's earlier session ends.",
  body: z.strictObject({ response: browserAnswerField }),
  data: meSchema,
  answerHeaders: sessionCookieHeaderDoc,
  failures: ['passkeys_unavailable', 'sign_in_failed', 'too_many_sign_ins', ...databaseFailures],
  handler: async ({ input: { response }, ctx }, deps: SignInDeps) => {
    const { db } = deps;
    const party = requireRelyingParty(deps.console.publicUrl);
    limitSignIns(ctx, deps.signIns);
    const origin = addressAndUserAgentOf(ctx);
    const passkey = await findPasskey(db, response.id);
    if (passkey === undefined || passkey.isDisabled) throw new HttpError('sign_in_failed');
    const consumeChallenge = async (challenge: string) =>
      (await consumePendingChallenge(db, 'passkey_sign_in', challenge)) !== undefined;
    const counter = await verifyAndReturnUseCounter(party, response, passkey, consumeChallenge).catch(
      async (error: unknown) => {
        const { userId, email } = passkey;
        await recordSecurityEvent(db, { kind: 'sign_in_failed', userId, email, origin, details: { means: 'passkey' } });
        throw error;
      },
    );
    const { passkeyId } = passkey;
    const before = await findBrowserSession(ctx, deps);
    const signedIn = await signInWithVerifiedProof(db, {
      user: passkey,
      origin,
      means: 'passkey',
      passkeyId,
      counter,
      before,
    });
    return setCookieAndReadMe(ctx, deps, signedIn);
  },
});

const remove = defineEndpoint({
  operationId: 'removePasskey',
  route: 'POST /api/console/v1/passkeys/remove',
  scope: 'session',
  needsRecentProof: true,
  summary: 'Remove a passkey',
  body: z.strictObject({ passkeyId: uncheckedIdField }),
  data: z.strictObject({ passkeyId: z.string() }),
  failures: ['passkey_not_found'],
  handler: async ({ session, input: { passkeyId }, ctx }, { db }) => {
    const isRemoved = isUuid(passkeyId) && (await removePasskey(db, session, passkeyId, addressAndUserAgentOf(ctx)));
    if (!isRemoved) throw new HttpError('passkey_not_found');
    return { passkeyId };
  },
});

export const passkeyEndpoints = [list, registerOptions, register, signInOptions, signInWithPasskey, remove];
