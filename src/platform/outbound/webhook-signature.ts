import { randomBytes } from 'node:crypto';
import { Webhook as Signer } from 'standardwebhooks';

export type WebhookToSign = {
  /** The same for every attempt, so that a receiver can drop repeats; visible ASCII without a dot. */
  readonly id: string;
  /** The time of this attempt, in Unix seconds; receivers reject what is more than five minutes off. */
  readonly timestampSeconds: number;
  /** Exactly the text that is sent. */
  readonly body: string;
  /** Current secret first; during a rotation the former one too. */
  readonly secrets: readonly string[];
};

/** The dot separates the signed parts, so an id with one could be read in two ways. */
const idPattern = /^[\x21-\x2d\x2f-\x7e]{1,255}$/;

/** The headers of Standard Webhooks: one `v1,` signature for each secret. Throws only for bugs of ours. */
export function signWebhook({ id, timestampSeconds, body, secrets }: WebhookToSign) {
  if (!idPattern.test(id)) throw new Error('a webhook id must be visible ASCII without a dot');
  if (!Number.isSafeInteger(timestampSeconds)) throw new Error('a webhook timestamp must be whole seconds');
  if (secrets.length === 0) throw new Error('a webhook needs a secret');
  const signedAt = new Date(timestampSeconds * 1000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': secrets.map((secret) => new Signer(secret).sign(id, signedAt, body)).join(' '),
  };
}

/** A fresh secret in the form of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export function newCallbackSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
