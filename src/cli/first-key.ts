import { scopes } from '../domain/api-key.ts';
import type { Service } from '../embedded/service.ts';
import { retry } from '../main/retry.ts';
import { createFirstAccount } from '../stores/accounts.ts';
import { createDatabase, type Database } from '../stores/database.ts';
import { createApiKey } from '../stores/keys.ts';

/** Enough for sixty five-second videos of the fast model. */
const credits = 10_000;

export type FirstKey = { readonly accountId: string; readonly key: string; readonly credits: number };

/**
 * On an installation without any account: opens one and answers its first key, for the only time. Undefined when there are
 * accounts already, or when the start was broken off before the database answered.
 */
export async function firstKeyOf(service: Service, signal: AbortSignal): Promise<FirstKey | undefined> {
  const { settings, log } = service;
  const db = createDatabase({ url: settings.databaseUrl, poolSize: 1 });
  try {
    return await retry({ step: 'make the first key', log, signal }, () => makeFirstKey(db));
  } catch (error) {
    if (signal.aborted) return undefined;
    await service.close();
    throw error;
  } finally {
    await db.close();
  }
}

/** Account and key are made together, so that a repeated call never finds an account whose key was never shown. */
function makeFirstKey(db: Database): Promise<FirstKey | undefined> {
  return db.transaction(async (run) => {
    const accountId = await createFirstAccount({ run }, { name: 'first account', credits });
    if (accountId === undefined) return undefined;
    const created = await createApiKey({ run }, { accountId, name: 'first key', scopes });
    return created && { accountId, key: created.key, credits };
  });
}
