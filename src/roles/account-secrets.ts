import { newCallbackSecret } from '../outbound/callback-secret.ts';
import type { SecretBox } from '../outbound/secret-box.ts';
import { createFirstCallbackSecret, listCallbackSecrets, rotateCallbackSecret } from '../stores/callback-secrets.ts';
import type { Database } from '../stores/database.ts';

/** The secrets that sign an account's callbacks today, the current one first. The first is made on first use. */
export async function callbackSecretsOf(db: Database, box: SecretBox, accountId: string): Promise<readonly string[]> {
  const existing = await listCallbackSecrets(db, accountId);
  if (existing.some(({ expiresAt }) => expiresAt === undefined))
    return existing.map(({ sealed }) => box.open(sealed, accountId));
  await createFirstCallbackSecret(db, accountId, box.seal(newCallbackSecret(), accountId));
  const created = await listCallbackSecrets(db, accountId);
  return created.map(({ sealed }) => box.open(sealed, accountId));
}

/** Makes a new current secret and answers it; the old one signs beside it for `overlapSeconds`. */
export async function rotateSecret(
  db: Database,
  box: SecretBox,
  { accountId, overlapSeconds }: { accountId: string; overlapSeconds: number },
): Promise<string> {
  const secret = newCallbackSecret();
  await rotateCallbackSecret(db, { accountId, sealed: box.seal(secret, accountId), overlapSeconds });
  return secret;
}
