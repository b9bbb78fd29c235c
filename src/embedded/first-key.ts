import { scopes } from '../domain/api-key.ts';
import { createFirstAccount } from '../stores/accounts.ts';
import { createApiKey } from '../stores/keys.ts';
import type { Database } from '../stores/database.ts';

/** Enough for sixty five-second videos of the fast model. */
export const firstCredits = 10_000;

/**
 * On an installation without any account: opens one and answers its first key, for the only time. Account and key are made
 * together, so that a repeated call never finds an account whose key was never shown.
 */
export function makeFirstKey(db: Database): Promise<{ accountId: string; key: string } | undefined> {
  return db.transaction(async (run) => {
    const accountId = await createFirstAccount({ run }, { name: 'first account', credits: firstCredits });
    if (accountId === undefined) return undefined;
    const created = await createApiKey({ run }, { accountId, name: 'first key', scopes });
    return created === undefined ? undefined : { accountId, key: created.key };
  });
}
