import { hash } from 'node:crypto';
import type { Database } from './database.ts';
import { none, one } from './statement.ts';

// Counted for all processes together. A source is a network, or a browser with a session of the person: what others try at an e-mail
// slows down neither its owner at home nor one who is signed in.

/** Failures of a source at one e-mail in 15 minutes before it has to wait between tries, twice as long after each. */
const freeFailures = 10;
/** The same for all sources together: an e-mail that many networks attack. Each of them then has one try in `maxPauseSeconds`. */
const freeFailuresOfEmail = 100;
const maxPauseSeconds = 60;
/** Tries of one source in a minute, at any e-mail. */
const maxTriesOfSource = 20;

type Counted = { readonly tryId: number | undefined; readonly waitSeconds: number };

const insertTry = one<Counted, [emailHash: Buffer, source: string]>({
  name: 'begin-sign-in-try',
  text: `
with failures as (
  select count(*) filter (where address = $2) as own, max(created_at) filter (where address = $2) as last_at,
    count(*) as all
  from sign_in_tries where email_hash = $1 and failed and created_at > now() - interval '15 minutes'),
pause as (
  select last_at, case
    when failures.all >= ${freeFailuresOfEmail} then ${maxPauseSeconds}
    when own >= ${freeFailures} then least(${maxPauseSeconds}, 2 ^ least(own - ${freeFailures} + 1, 10))
    else 0 end as seconds from failures),
waiting as (
  select greatest(
    coalesce(extract(epoch from last_at - now()) + seconds, 0),
    case when ${maxTriesOfSource} <= (
      select count(*) from sign_in_tries where address = $2 and created_at > now() - interval '1 minute')
    then 60 else 0 end) as seconds from pause),
inserted as (
  insert into sign_in_tries (email_hash, address) select $1, $2 from waiting where seconds <= 0 returning id)
select (select id from inserted) as "tryId", greatest(1, ceil(seconds))::int as "waitSeconds" from waiting`,
});

// Tries at one e-mail, and of one source, come one after the other, so that tries at the same time cannot all be the last one.
const lock = none<[email: string, source: string]>({
  name: 'lock-sign-in-tries',
  text: 'select pg_advisory_xact_lock(4202614, hashtext($1)), pg_advisory_xact_lock(4202615, hashtext($2))',
});

/** Counts a try as failed before anything is hashed. Without `tryId` it is refused, and may be repeated after `waitSeconds`. */
export function beginTry(db: Database, email: string, source: string): Promise<Counted> {
  const emailHash = hash('sha256', email, 'buffer');
  return db.transaction(async (run) => {
    await lock({ run }, emailHash.toString('hex'), source);
    return insertTry({ run }, emailHash, source);
  });
}

/** The try was no failure. */
export const succeedTry = none<[tryId: number]>({
  name: 'succeed-sign-in-try',
  text: 'update sign_in_tries set failed = false where id = $1',
});
