import { many, maybeOne, noRows } from '../../platform/database/declare-statements.ts';

/** Callbacks and events of an account have secrets of their own. */
export const secretPurposes = ['callback', 'event'] as const;
export type SecretPurpose = (typeof secretPurposes)[number];

/** A secret is sealed with a key that is not in the database. */
export type SealedSecret = { readonly sealed: string; readonly expiresAt: number | undefined };

/** Lists the secrets that sign for a purpose: the current one, then the former ones in their overlap; at most ten. */
export const listSigningSecrets = many<SealedSecret, [accountId: string, purpose: SecretPurpose]>({
  name: 'list-callback-secrets',
  text: `
select sealed, expires_at as "expiresAt" from callback_secrets
where account_id = $1 and purpose = $2 and (expires_at is null or expires_at > now()) order by id desc`,
});

/** Stores the account's first secret, unless another process stored one first: the caller reads it back. */
export const insertFirstSigningSecret = noRows<[accountId: string, purpose: SecretPurpose, sealed: string]>({
  name: 'create-first-callback-secret',
  text: `insert into callback_secrets (account_id, purpose, sealed) values ($1, $2, $3) on conflict do nothing`,
});

/** Marks the current secret as shown and returns it. Returns undefined if it was shown before, or none exists. */
export const takeUnshownSecret = maybeOne<Pick<SealedSecret, 'sealed'>, [accountId: string, purpose: SecretPurpose]>({
  name: 'show-callback-secret',
  text: `
update callback_secrets set shown_at = now()
where account_id = $1 and purpose = $2 and expires_at is null and shown_at is null returning sealed`,
});

/** Each adds a signature to every delivery. */
const maxFormerSecrets = 9;

/** The current secret also signs for `overlapSeconds` more, beside at most eight earlier ones. */
export const scheduleSigningSecretExpiry = noRows<[accountId: string, purpose: SecretPurpose, overlapSeconds: number]>({
  name: 'expire-callback-secret',
  text: `
with dropped as (
  delete from callback_secrets where account_id = $1 and purpose = $2 and (expires_at <= now() or id not in (
    select id from callback_secrets where account_id = $1 and purpose = $2 order by id desc limit ${maxFormerSecrets})))
update callback_secrets set expires_at = now() + $3 * interval '1 second'
where account_id = $1 and purpose = $2 and expires_at is null`,
});
/** The new current secret counts as shown. */
export const insertNextSigningSecret = noRows<[accountId: string, purpose: SecretPurpose, sealed: string]>({
  name: 'create-next-callback-secret',
  text: `insert into callback_secrets (account_id, purpose, sealed, shown_at) values ($1, $2, $3, now())`,
});

export const listSealedSecretsPage = many<
  { readonly secretId: number; readonly accountId: string; readonly sealed: string },
  [after: number, limit: number]
>({
  name: 'list-secrets-to-reseal',
  text: `
select id as "secretId", account_id as "accountId", sealed from callback_secrets where id > $1 order by id limit $2`,
});

/** Replaces the sealed text, unless the secret was changed or deleted in the meantime. */
export const replaceSealedSecret = maybeOne<{ secretId: number }, [secretId: number, from: string, to: string]>({
  name: 'reseal-secret',
  text: `update callback_secrets set sealed = $3 where id = $1 and sealed = $2 returning id as "secretId"`,
});
/** The time in which a former secret still signs after a rotation. */
export const defaultSecretOverlapSeconds = 24 * 60 * 60;
export const maxSecretOverlapSeconds = 30 * 24 * 60 * 60;
