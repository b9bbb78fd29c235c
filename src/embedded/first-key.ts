import { scopes } from '../domain/api-key.ts';
import { createFirstAccount } from '../stores/accounts.ts';
import { createApiKey } from '../stores/api-keys.ts';
import type { Database } from '../stores/database.ts';

/** Enough for sixty five-second videos of the fast model. */
export const firstCredits = 10_000;

/** On an installation without any account: opens one and answers its first key, for the only time. */
export async function makeFirstKey(db: Database): Promise<{ accountId: string; key: string } | undefined> {
  const accountId = await createFirstAccount(db, { name: 'first account', credits: firstCredits });
  if (accountId === undefined) return undefined;
  const created = await createApiKey(db, { accountId, name: 'first key', scopes });
  return created === undefined ? undefined : { accountId, key: created.key };
}
