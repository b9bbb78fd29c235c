import type { Database } from './database.ts';

/** A callback secret as it rests in the database: sealed with a key that the database does not know. */
export type SealedSecret = { readonly sealed: string; readonly expiresAt: number | undefined };

const selectActive = {
  name: 'list-callback-secrets',
  text: `
select sealed, expires_at from callback_secrets
where account_id = $1 and (expires_at is null or expires_at > now()) order by id desc limit 10`,
};

/** The account's secrets that sign today: the current one first, then those still in their overlap after a rotation. */
export async function listCallbackSecrets(db: Database, accountId: string): Promise<readonly SealedSecret[]> {
  const rows = await db.run<{ sealed: string; expires_at: number | null }>(selectActive, [accountId]);
  return rows.map((row) => ({ sealed: row.sealed, expiresAt: row.expires_at ?? undefined }));
}

const insertFirst = {
  name: 'create-first-callback-secret',
  text: `insert into callback_secrets (account_id, sealed) values ($1, $2) on conflict do nothing`,
};

/** Keeps the account's first secret; when another process was faster, that one's stays. Read it back to know which. */
export async function createFirstCallbackSecret(db: Database, accountId: string, sealed: string): Promise<void> {
  await db.run(insertFirst, [accountId, sealed]);
}

const expireCurrent = {
  name: 'expire-callback-secret',
  text: `
update callback_secrets set expires_at = now() + $2 * interval '1 second' where account_id = $1 and expires_at is null`,
};
const insertNext = {
  name: 'create-next-callback-secret',
  text: `insert into callback_secrets (account_id, sealed) values ($1, $2)`,
};

/** Replaces the current secret; the old one goes on signing beside it for `overlapSeconds`. */
export async function rotateCallbackSecret(
  db: Database,
  { accountId, sealed, overlapSeconds }: { accountId: string; sealed: string; overlapSeconds: number },
): Promise<void> {
  await db.transaction(async (run) => {
    await run(expireCurrent, [accountId, overlapSeconds]);
    await run(insertNext, [accountId, sealed]);
  });
}
