import { lockOpenAccount } from './accounts.ts';
import type { Database } from './database.ts';
import { many, maybeOne, none } from './statement.ts';

/** A callback secret as it rests in the database: sealed with a key that the database does not know. */
export type SealedSecret = { readonly sealed: string; readonly expiresAt: number | undefined };

/** The account's secrets that sign today: the current one first, then those still in their overlap after a rotation, the ten newest at most. */
export const listCallbackSecrets = many<SealedSecret, [accountId: string]>({
  name: 'list-callback-secrets',
  text: `
select sealed, expires_at as "expiresAt" from callback_secrets
where account_id = $1 and (expires_at is null or expires_at > now()) order by id desc limit 10`,
});

/** Keeps the account's first secret; when another process was faster, that one's stays. Read it back to know which. */
export const createFirstCallbackSecret = none<[accountId: string, sealed: string]>({
  name: 'create-first-callback-secret',
  text: `insert into callback_secrets (account_id, sealed) values ($1, $2) on conflict do nothing`,
});

const showCurrent = {
  name: 'show-callback-secret',
  text: `
update callback_secrets set shown_at = now()
where account_id = $1 and expires_at is null and shown_at is null returning sealed`,
};

/** Marks the current secret as shown to its owner and answers it; undefined when it was shown before, or there is none. */
export async function showCallbackSecret(db: Database, accountId: string): Promise<string | undefined> {
  const [row] = await db.run<{ sealed: string }>(showCurrent, [accountId]);
  return row?.sealed;
}

const expireCurrent = none<[accountId: string, overlapSeconds: number]>({
  name: 'expire-callback-secret',
  text: `
with dropped as (delete from callback_secrets where account_id = $1 and expires_at <= now())
update callback_secrets set expires_at = now() + $2 * interval '1 second' where account_id = $1 and expires_at is null`,
});
const createNext = none<[accountId: string, sealed: string]>({
  name: 'create-next-callback-secret',
  text: `insert into callback_secrets (account_id, sealed, shown_at) values ($1, $2, now())`,
});

/**
 * Replaces the current secret; the old one goes on signing beside it for `overlapSeconds`. The new one counts as shown. Throws
 * `AccountClosed`: the end of a closing deletes the secrets of the account.
 */
export function rotateCallbackSecret(
  db: Database,
  { accountId, sealed, overlapSeconds }: { accountId: string; sealed: string; overlapSeconds: number },
): Promise<void> {
  return db.transaction(async (run) => {
    // Two concurrent rotations would both find the same current secret, so they wait for each other at the account.
    await lockOpenAccount({ run }, accountId);
    await expireCurrent({ run }, accountId, overlapSeconds);
    await createNext({ run }, accountId, sealed);
  });
}

/** Secrets of all accounts, a bounded page of them after the one with this number. */
export const listSecretsToReseal = many<
  { readonly secretId: number; readonly accountId: string; readonly sealed: string },
  [after: number, limit: number]
>({
  name: 'list-secrets-to-reseal',
  text: `
select id as "secretId", account_id as "accountId", sealed from callback_secrets where id > $1 order by id limit $2`,
});

/** Seals a secret anew, unless it was changed or dropped meanwhile. */
export const resealSecret = maybeOne<{ secretId: number }, [secretId: number, from: string, to: string]>({
  name: 'reseal-secret',
  text: `update callback_secrets set sealed = $3 where id = $1 and sealed = $2 returning id as "secretId"`,
});
