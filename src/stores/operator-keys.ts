import type { Actor } from '../domain/operator.ts';
import { findAccountDetail } from './account-list.ts';
import { createAccountKey, type MadeKey, type TooManyKeys, type WantedKey } from './account-keys.ts';
import { revokeApiKey } from './api-keys.ts';
import type { Database } from './database.ts';
import { recordAction } from './operator-actions.ts';

/** Makes a key for an account, with any scopes; undefined when there is no such account. */
export function createKeyAs(db: Database, actor: Actor, wanted: WantedKey): Promise<MadeKey | TooManyKeys | undefined> {
  return recordAction<MadeKey | TooManyKeys | undefined>(db, actor, async (transaction) => {
    const { accountId } = wanted;
    if ((await findAccountDetail(transaction, accountId)) === undefined) return { answer: undefined };
    const answer = await createAccountKey(transaction, wanted);
    if (answer.kind !== 'made') return { answer };
    const { keyId, name, scopes, dialect, expiresAt = null } = answer.shown;
    const details = { name, scopes, dialect, expiresAt };
    return { answer, done: { action: 'keys.create', accountId, keyId, details } };
  });
}

/** Revokes a key of any account from the next request on, and answers since when; undefined when there is no such key. */
export function revokeKeyAs(db: Database, actor: Actor, keyId: string): Promise<number | undefined> {
  return recordAction(db, actor, async (transaction) => {
    const revoked = await revokeApiKey(transaction, keyId);
    if (revoked?.changed !== true) return { answer: revoked?.revokedAt };
    const { accountId, name, hint, revokedAt } = revoked;
    return { answer: revokedAt, done: { action: 'keys.revoke', accountId, keyId, details: { name, hint } } };
  });
}
