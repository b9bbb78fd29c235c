import { hash } from 'node:crypto';
import type { Database } from './database.ts';
import { maybeOne, none } from './statement.ts';

/** Of one e-mail, failed tries in 15 minutes; of one address, tries in a minute. Counted for all processes together. */
const maxFailuresOfEmail = 10;
const maxTriesOfAddress = 20;

const insertTry = maybeOne<{ tryId: number }, [emailHash: Buffer, address: string]>({
  name: 'begin-sign-in-try',
  text: `
insert into sign_in_tries (email_hash, address) select $1, $2
where ${maxFailuresOfEmail} > (
    select count(*) from sign_in_tries where email_hash = $1 and failed and created_at > now() - interval '15 minutes')
  and ${maxTriesOfAddress} > (
    select count(*) from sign_in_tries where address = $2 and created_at > now() - interval '1 minute')
returning id as "tryId"`,
});

// One at a time, so that tries that come together cannot all be the last one.
const lock = none<[]>({ name: 'lock-sign-in-tries', text: 'select pg_advisory_xact_lock(4202614)' });

const forget = none<[]>({
  name: 'forget-sign-in-tries',
  text: `
delete from sign_in_tries where id in (
  select id from sign_in_tries where created_at < now() - interval '1 hour' order by created_at limit 100)`,
});

/** Counts a try as failed before anything is hashed, and answers its id; undefined when there were too many. */
export function beginTry(db: Database, email: string, address: string): Promise<number | undefined> {
  return db.transaction(async (run) => {
    await lock({ run });
    await forget({ run });
    return (await insertTry({ run }, hash('sha256', email, 'buffer'), address))?.tryId;
  });
}

/** The try was no failure. */
export const succeedTry = none<[tryId: number]>({
  name: 'succeed-sign-in-try',
  text: 'update sign_in_tries set failed = false where id = $1',
});
