import { lockOpenAccount } from '../accounts/accounts.ts';
import type { Database } from '../platform/database/database.ts';
import { many, maybeOne, none } from '../platform/database/statement.ts';

/** A secret is sealed with a key that is not in the database. */
export type SealedSecret = { readonly sealed: string; readonly expiresAt: number | undefined };

/** Lists the secrets that sign callbacks: the current one, then the former ones in their overlap; at most ten. */
export const listCallbackSecrets = many<SealedSecret, [accountId: string]>({
  name: 'list-callback-secrets',
  text: `
select sealed, expires_at as "expiresAt" from callback_secrets
where account_id = $1 and (expires_at is null or expires_at > now()) order by id desc limit 10`,
});

/** Stores the account's first secret, unless another process stored one first: the caller reads it back. */
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

/** Marks the current secret as shown and returns it. Returns undefined if it was shown before, or none exists. */
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

/** Replaces the current secret, which also signs for `overlapSeconds` more. The new one counts as shown. Throws `AccountClosed`. */
export function rotateCallbackSecret(
  db: Database,
  { accountId, sealed, overlapSeconds }: { accountId: string; sealed: string; overlapSeconds: number },
): Promise<void> {
  return db.transaction(async (run) => {
    // The lock serializes rotations: two concurrent ones would find the same current secret.
    await lockOpenAccount({ run }, accountId);
    await expireCurrent({ run }, accountId, overlapSeconds);
    await createNext({ run }, accountId, sealed);
  });
}

export const listSecretsToReseal = many<
  { readonly secretId: number; readonly accountId: string; readonly sealed: string },
  [after: number, limit: number]
>({
  name: 'list-secrets-to-reseal',
  text: `
select id as "secretId", account_id as "accountId", sealed from callback_secrets where id > $1 order by id limit $2`,
});

/** Replaces the sealed text, unless the secret was changed or deleted in the meantime. */
export const resealSecret = maybeOne<{ secretId: number }, [secretId: number, from: string, to: string]>({
  name: 'reseal-secret',
  text: `update callback_secrets set sealed = $3 where id = $1 and sealed = $2 returning id as "secretId"`,
});
