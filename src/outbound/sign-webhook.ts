import { createHmac } from 'node:crypto';
import { callbackKey } from './callback-secret.ts';

export type Webhook = {
  /** The same for every attempt, so that a receiver can drop repeats; visible ASCII without a dot. */
  readonly id: string;
  /** Of this attempt, in Unix seconds; receivers refuse what is more than five minutes off. */
  readonly timestampSeconds: number;
  /** Exactly the text that is sent. */
  readonly body: string;
  /** Current secret first; during a rotation the former one too. */
  readonly secrets: readonly string[];
};

export type WebhookHeaders = {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
};

/** The dot separates the signed parts, so an id with one could be read in two ways. */
const idPattern = /^[\x21-\x2d\x2f-\x7e]{1,255}$/;

/** The headers of Standard Webhooks: one `v1,` signature for each secret. Throws for what can only be our own fault. */
export function signWebhook({ id, timestampSeconds, body, secrets }: Webhook): WebhookHeaders {
  if (!idPattern.test(id)) throw new Error('a webhook id must be visible ASCII without a dot');
  if (!Number.isSafeInteger(timestampSeconds)) throw new Error('a webhook timestamp must be whole seconds');
  if (secrets.length === 0) throw new Error('a webhook needs a secret');
  const content = `${id}.${timestampSeconds}.${body}`;
  const signatures = secrets.map((secret) => `v1,${signature(secret, content)}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
}

function signature(secret: string, content: string): string {
  return createHmac('sha256', callbackKey(secret)).update(content).digest('base64');
}
