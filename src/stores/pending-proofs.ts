import { hashToken, newToken } from './secret-token.ts';
import type { Database } from './database.ts';
import { maybeOne } from './statement.ts';

// What waits for an answer from elsewhere: a passkey's challenge, a visit to the identity provider. Each is taken once.

type Runner = Pick<Database, 'run'>;
export type ProofKind = 'passkey_registration' | 'passkey_sign_in' | 'oidc';
type Details = Readonly<Record<string, string>>;

/** Of those that anybody may begin, and of each person who is signed in, which those do not take up. */
const maxPending = 10_000;
const maxOfPerson = 20;
const lifeSeconds = 600;

const insertProof = maybeOne<
  { kind: string },
  [hash: Buffer, kind: ProofKind, userId: string | undefined, details: Details]
>({
  name: 'begin-proof',
  text: `
insert into pending_proofs (hash, kind, user_id, details, expires_at)
select $1, $2, $3::uuid, $4, now() + interval '${lifeSeconds} seconds'
from (select case when $3::uuid is null then ${maxPending} else ${maxOfPerson} end as most) bound
where most > (
  select count(*) from (
    select from pending_proofs where user_id is not distinct from $3 and expires_at > now() limit most) waiting)
returning kind`,
  values: (hash, kind, userId, details) => [hash, kind, userId, JSON.stringify(details)],
});

/** Begins a proof, and answers the secret by which it is found again; undefined while too many wait. */
export async function beginProof(
  db: Runner,
  { kind, userId, details = {} }: { readonly kind: ProofKind; readonly userId?: string; readonly details?: Details },
): Promise<string | undefined> {
  const token = newToken();
  const begun = await insertProof(db, hashToken(token), kind, userId, details);
  return begun && token;
}

const take = maybeOne<{ userId: string | undefined; details: Details }, [hash: Buffer, kind: ProofKind]>({
  name: 'take-proof',
  text: `
with taken as (delete from pending_proofs where hash = $1 and kind = $2 returning *)
select user_id as "userId", details from taken where expires_at > now()`,
});

/** What was begun under this secret, for the only time; undefined for one that is unknown, taken or expired. */
export function takeProof(db: Runner, kind: ProofKind, token: string) {
  return take(db, hashToken(token), kind);
}
