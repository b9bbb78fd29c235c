import { z } from 'zod';
import { mailStates } from '../../platform/mail/mail-texts.ts';
import { addressAndUserAgentOf, type SessionDeps } from './authenticate-session.ts';
import { type MailDeps, newOneTimeLinkSchema, presentNewOneTimeLink } from '../people/one-time-link-view.ts';
import { emailField } from '../people/email-and-password-fields.ts';
import {
  isDomainAllowed,
  listUnconfirmedSignUps,
  type UnconfirmedSignUp,
  renewSignUpLinkAs,
  requestSignUp,
  type SignUpPolicy,
} from '../../credits/sign-up/request-sign-up.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { databaseFailures } from '../core/error-catalogue.ts';
import { requireExisting, HttpError } from '../core/http-error.ts';
import { idField, oneLineTextField, unixMsSchema } from '../core/request-fields.ts';
import { limitCodeAttempts, limitSignIns, type RateLimiter } from '../core/limits/rate-limits.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';

type SignUpDeps = WithDb &
  MailDeps & { readonly signUp: SignUpPolicy; readonly signIns: RateLimiter; readonly codeAttempts: RateLimiter };

const signUp = defineEndpoint({
  operationId: 'signUp',
  route: 'POST /api/console/v1/sign-up',
  scope: 'none',
  summary: 'Sign up',
  description:
    'Sends a link that opens an account. Without a mail server an operator delivers it. The response is the same for an address that is ' +
    'registered already, which gets a mail without a link.',
  body: z.strictObject({
    email: emailField,
    code: oneLineTextField(64)
      .nullish()
      .meta({ description: 'A redemption code, if the sign-up requires one. The new account redeems it.' }),
  }),
  data: z.strictObject({}),
  failures: [
    'sign_up_off',
    'email_domain_not_allowed',
    'code_invalid',
    'too_many_code_attempts',
    'too_many_sign_ups',
    'too_many_sign_ins',
    ...databaseFailures,
  ],
  handler: async ({ input: { email, code }, ctx }, deps: SignUpDeps) => {
    const { db, signUp: policy, signIns, codeAttempts, mails } = deps;
    if (policy.mode === 'off') throw new HttpError('sign_up_off');
    limitSignIns(ctx, signIns);
    if (!isDomainAllowed(policy, email)) throw new HttpError('email_domain_not_allowed');
    const { address } = addressAndUserAgentOf(ctx);
    // No user is signed in, so invalid codes are limited by network.
    const who = `sign-up ${address}`;
    const outcome = await limitCodeAttempts(codeAttempts, who, {
      check: () => requestSignUp(db, policy, { email, address, code: code ?? undefined }, mails),
      isInvalid: (refusal) => refusal === 'code_invalid',
    });
    if (outcome !== 'requested') throw new HttpError(outcome);
    return {};
  },
});

const signUpSchema = z
  .strictObject({
    linkId: z.string(),
    email: z.string(),
    address: z.string().meta({ description: 'The network that requested it.' }),
    mail: z.enum(mailStates).nullable().meta({ description: 'Null if none was queued: deliver a link yourself.' }),
    createTime: unixMsSchema,
    expireTime: unixMsSchema,
  })
  .meta({ id: 'SignUp' });

export function presentSignUp(request: UnconfirmedSignUp) {
  const { createdAt: createTime, expiresAt: expireTime } = request;
  return pickRowFieldsBySchema(signUpSchema, { ...request, createTime, expireTime });
}

const maxListed = 200;

const list = defineEndpoint({
  operationId: 'adminListSignUps',
  route: 'GET /api/admin/v1/sign-ups',
  summary: 'List open sign-ups',
  description: `People whose link was not used yet, newest first; at most ${maxListed}.`,
  data: z.strictObject({ signUps: z.array(signUpSchema) }),
  handler: async (_call, { db }) => ({ signUps: (await listUnconfirmedSignUps(db, maxListed)).map(presentSignUp) }),
});

const renew = defineEndpoint({
  operationId: 'adminCreateSignUpLink',
  route: 'POST /api/admin/v1/sign-ups/link',
  needsRecentProof: true,
  summary: 'Create a link for an open sign-up',
  description:
    'Use it if the mail did not arrive. Send the link only to the e-mail address. The earlier link no longer works.',
  body: z.strictObject({ linkId: idField('a sign-up') }),
  data: newOneTimeLinkSchema,
  failures: ['sign_up_not_found'],
  handler: async ({ actor, input: { linkId } }, { db, console: { publicUrl } }: SessionDeps) =>
    presentNewOneTimeLink(publicUrl, requireExisting(await renewSignUpLinkAs(db, actor, linkId), 'sign_up_not_found')),
});

export const signUpEndpoints = [signUp];
export const operatorOpenSignUpEndpoints = [list, renew];
