/** Complete as it stands: nothing to install. */
export function verificationSample(webhookId?: string): string {
  return `import { createHmac, timingSafeEqual } from 'node:crypto';

// headers and body as they arrived, the body as text; secret is your whsec_…
// ${webhookId === undefined ? 'The webhook-id is the same at every attempt.' : `The webhook-id of this callback is ${webhookId}.`}
export function isGenuine({ headers, body, secret }) {
  const { 'webhook-id': id, 'webhook-timestamp': sentAt, 'webhook-signature': signatures } = headers;
  const isFresh = Math.abs(Date.now() / 1000 - Number(sentAt)) < 300;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const expected = createHmac('sha256', key).update(\`\${id}.\${sentAt}.\${body}\`).digest();
  return isFresh && (signatures ?? '').split(' ').some((signature) => {
    const given = Buffer.from(signature.replace('v1,', ''), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}`;
}
