import { z } from 'zod';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithDb } from '../core/endpoint.ts';
import { existing, HttpError } from '../core/http-error.ts';
import { overlapField } from '../core/request-fields.ts';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';
import { revealSecretOnce, rotateSecret } from '../../tasks/callbacks/signing-secrets.ts';

// Callbacks and events are signed with secrets of their own.

/** `box` encrypts the secrets. */
type SecretDeps = WithDb & { readonly box: SecretBox };

const shared = { scope: 'callbacks:secret', needsRecentProof: true } as const;

const secretSchema = z.strictObject({
  secret: z.string().meta({ description: '`whsec_…`, in the format of Standard Webhooks.' }),
});

const rotation = z.strictObject({ overlapSeconds: overlapField });
const rotatedSchema = z.strictObject({ secret: z.string(), overlapSeconds: z.int().nonnegative() });

const showCallbackSecret = defineEndpoint({
  ...shared,
  operationId: 'showCallbackSecret',
  route: 'POST /api/v1/callbacks/secret',
  summary: 'Show the callback secret once',
  description:
    'Returns the secret that signs callbacks, and creates it on first use. Later calls get 409; rotate a lost secret. Takes no body.',
  data: secretSchema,
  failures: ['callback_secret_already_shown'],
  handler: async ({ caller: { accountId } }, { db, box }: SecretDeps) => ({
    secret: existing(await revealSecretOnce(db, box, accountId, 'callback'), 'callback_secret_already_shown'),
  }),
});

const rotateCallbackSecret = defineEndpoint({
  ...shared,
  operationId: 'rotateCallbackSecret',
  route: 'POST /api/v1/callbacks/secret/rotate',
  summary: 'Rotate the callback secret',
  description:
    'Returns the new secret once. For `overlapSeconds` (a day by default), callbacks carry the signatures of both secrets, so that ' +
    'receivers can switch; with 0, the old secret stops signing immediately.',
  body: rotation,
  data: rotatedSchema,
  failures: ['account_closed'],
  handler: async ({ caller: { accountId }, input: { overlapSeconds } }, { db, box }: SecretDeps) => ({
    secret: await rotateSecret(db, box, { accountId, purpose: 'callback', overlapSeconds }),
    overlapSeconds,
  }),
});

const showEventSecret = defineEndpoint({
  ...shared,
  operationId: 'showEventSecret',
  route: 'POST /api/v1/events/secret',
  summary: 'Show the event secret once',
  description:
    'Returns the secret that signs events, which is not that of callbacks, and creates it on first use. Later calls get 409; rotate a ' +
    'lost secret. Takes no body.',
  data: secretSchema,
  failures: ['callback_secret_already_shown'],
  handler: async ({ caller: { accountId } }, { db, box }: SecretDeps) => {
    const secret = await revealSecretOnce(db, box, accountId, 'event');
    const msg = 'the event secret was already shown; rotate it to get a new one';
    if (secret === undefined) throw new HttpError('callback_secret_already_shown', { msg });
    return { secret };
  },
});

const rotateEventSecret = defineEndpoint({
  ...shared,
  operationId: 'rotateEventSecret',
  route: 'POST /api/v1/events/secret/rotate',
  summary: 'Rotate the event secret',
  description:
    'Returns the new secret once. For `overlapSeconds` (a day by default), events carry the signatures of both secrets.',
  body: rotation,
  data: rotatedSchema,
  failures: ['account_closed'],
  handler: async ({ caller: { accountId }, input: { overlapSeconds } }, { db, box }: SecretDeps) => ({
    secret: await rotateSecret(db, box, { accountId, purpose: 'event', overlapSeconds }),
    overlapSeconds,
  }),
});

export const callbackSecretEndpoints = [showCallbackSecret, rotateCallbackSecret];
export const accountEventSecretEndpoints = [showEventSecret, rotateEventSecret];
