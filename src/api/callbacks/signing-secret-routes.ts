import { z } from 'zod';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { HttpError } from '../core/http-error.ts';
import { secretOverlapSecondsField } from '../core/request-fields.ts';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';
import { revealSecretOnce, rotateSecret } from '../../tasks/callbacks/signing-secrets.ts';

// Callbacks and events are signed with secrets of their own.

type SecretDeps = WithDb & { readonly box: SecretBox };

const shared = { scope: 'callbacks:secret', needsRecentProof: true } as const;

const secretSchema = z.strictObject({
  secret: z.string().meta({ description: '`whsec_…`, in the format of Standard Webhooks.' }),
});

type About = {
  /** What the secret signs. */
  readonly signed: string;
  readonly overlap: string;
};

function secretEndpoints(purpose: 'callback' | 'event', { signed, overlap }: About) {
  const name = purpose === 'callback' ? 'Callback' : 'Event';
  const show = defineEndpoint({
    ...shared,
    operationId: `show${name}Secret`,
    route: `POST /api/v1/${purpose}s/secret`,
    summary: `Show the ${purpose} secret once`,
    description: `Returns the secret that signs ${signed}, and creates it on first use. Later calls get 409; rotate a lost secret. Takes no body.`,
    data: secretSchema,
    failures: ['callback_secret_already_shown'],
    handler: async ({ caller: { accountId } }, { db, box }: SecretDeps) => {
      const secret = await revealSecretOnce(db, box, accountId, purpose);
      const msg = `the ${purpose} secret was already shown; rotate it to get a new one`;
      if (secret === undefined) throw new HttpError('callback_secret_already_shown', { msg });
      return { secret };
    },
  });
  const rotate = defineEndpoint({
    ...shared,
    operationId: `rotate${name}Secret`,
    route: `POST /api/v1/${purpose}s/secret/rotate`,
    summary: `Rotate the ${purpose} secret`,
    description: `Returns the new secret once. For \`overlapSeconds\` (a day by default), ${purpose}s carry the signatures of both secrets${overlap}.`,
    body: z.strictObject({ overlapSeconds: secretOverlapSecondsField }),
    data: z.strictObject({ secret: z.string(), overlapSeconds: z.int().nonnegative() }),
    failures: ['account_closed'],
    handler: async ({ caller: { accountId }, input: { overlapSeconds } }, { db, box }: SecretDeps) => ({
      secret: await rotateSecret(db, box, { accountId, purpose, overlapSeconds }),
      overlapSeconds,
    }),
  });
  return [show, rotate] as const;
}

export const callbackSecretEndpoints = secretEndpoints('callback', {
  signed: 'callbacks',
  overlap: ', so that receivers can switch; with 0, the old secret stops signing immediately',
});
export const accountEventSecretEndpoints = secretEndpoints('event', {
  signed: 'events, which is not that of callbacks',
  overlap: '',
});
