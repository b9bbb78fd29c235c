import { hashToken, newToken } from '../../platform/secrets/secret-token.ts';
import { maybeOne, type StatementRunner } from '../../platform/database/declare-statements.ts';

// Ceremonies that wait for a response: a passkey's challenge, a visit to the identity provider. Each is consumed once.

export type ChallengeKind = 'passkey_registration' | 'passkey_sign_in' | 'oidc';
type Details = Readonly<Record<string, string>>;

/** The limit for all requests without a session. */
const maxPending = 10_000;
const maxPendingOfPerson = 20;
const lifeSeconds = 600;

const insertProof = maybeOne<
  { kind: string },
  [hash: Buffer, kind: ChallengeKind, userId: string | undefined, details: Details]
>({
  name: 'begin-proof',
  text: `
insert into pending_proofs (hash, kind, user_id, details, expires_at)
select $1, $2, $3::uuid, $4, now() + interval '${lifeSeconds} seconds'
from (select case when $3::uuid is null then ${maxPending} else ${maxPendingOfPerson} end as most) bound
where most > (
  select count(*) from (
    select from pending_proofs where user_id is not distinct from $3 and expires_at > now() limit most) waiting)
returning kind`,
  values: (hash, kind, userId, details) => [hash, kind, userId, JSON.stringify(details)],
});

/** Returns the secret of a new proof; undefined if too many are pending. */
export async function createPendingChallenge(
  db: StatementRunner,
  {
    kind,
    userId,
    details = {},
  }: { readonly kind: ChallengeKind; readonly userId?: string; readonly details?: Details },
): Promise<string | undefined> {
  const token = newToken();
  const begun = await insertProof(db, hashToken(token), kind, userId, details);
  return begun && token;
}

const consume = maybeOne<{ userId: string | undefined; details: Details }, [hash: Buffer, kind: ChallengeKind]>({
  name: 'consume-proof',
  text: `
with consumed as (delete from pending_proofs where hash = $1 and kind = $2 returning *)
select user_id as "userId", details from consumed where expires_at > now()`,
});

/** Undefined if the secret is unknown, consumed or expired. */
export function consumePendingChallenge(db: StatementRunner, kind: ChallengeKind, token: string) {
  return consume(db, hashToken(token), kind);
}
