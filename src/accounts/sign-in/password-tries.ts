import { hash } from 'node:crypto';
import type { Database } from '../../platform/database/database.ts';
import { noRows, one } from '../../platform/database/declare-statements.ts';

// Password attempts, counted for all processes. A source is a network, or a browser with a session of the person, so attacks from
// elsewhere slow down neither until the e-mail has too many failures.

/** Failures of a source at one e-mail in 15 minutes before it must wait; the wait doubles with each further failure. */
const freeFailures = 10;
/** Failures of all sources at one e-mail in 15 minutes before each of them must wait `maxPauseSeconds`. */
const freeFailuresOfEmail = 100;
const maxPauseSeconds = 60;

type Attempt = { readonly tryId: number | undefined; readonly waitSeconds: number };

const insertTry = one<Attempt, [emailHash: Buffer, source: string]>({
  name: 'begin-sign-in-try',
  text: `
with failures as (
  select count(*) filter (where address = $2) as own, max(created_at) filter (where address = $2) as last_at,
    count(*) as all
  from sign_in_tries where email_hash = $1 and failed and created_at > now() - interval '15 minutes'),
waiting as (
  select coalesce(extract(epoch from last_at - now()) + case
    when failures.all >= ${freeFailuresOfEmail} then ${maxPauseSeconds}
    when own >= ${freeFailures} then least(${maxPauseSeconds}, 2 ^ least(own - ${freeFailures} + 1, 10))
    else 0 end, 0) as seconds from failures),
inserted as (
  insert into sign_in_tries (email_hash, address) select $1, $2 from waiting where seconds <= 0 returning id)
select (select id from inserted) as "tryId", greatest(1, ceil(seconds))::int as "waitSeconds" from waiting`,
});

const lockEmailHash = noRows<[email: string]>({
  name: 'lock-sign-in-tries',
  text: 'select pg_advisory_xact_lock(4202614, hashtext($1))',
});

/** Counts an attempt as failed, before the password is hashed. Without `tryId` it is refused for `waitSeconds`. */
export function countPasswordTry(db: Database, email: string, source: string): Promise<Attempt> {
  const emailHash = hash('sha256', email, 'buffer');
  return db.transaction(async (run) => {
    await lockEmailHash({ run }, emailHash.toString('hex'));
    return insertTry({ run }, emailHash, source);
  });
}

export const markTrySucceeded = noRows<[tryId: number]>({
  name: 'succeed-sign-in-try',
  text: 'update sign_in_tries set failed = false where id = $1',
});
