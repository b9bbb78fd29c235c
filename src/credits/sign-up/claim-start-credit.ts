import { createHmac, hkdfSync } from 'node:crypto';
import { maybeOne, type StatementRunner } from '../../platform/database/declare-statements.ts';
import { mailboxOf, type SignUpPolicy } from './request-sign-up.ts';

// A mailbox gets the start credit once, even if its owner closes the account, is erased, and signs up again. Only a hash of the mailbox
// stays. Its key is not in the database, so that a copy of the database does not show who signed up. The key is derived from
// VIDEOGEN_SECRET: a mailbox that was hashed under a secret that was rotated and removed from VIDEOGEN_SECRET_PREVIOUS can get the credit
// once more.

const claim = maybeOne<{ readonly isFirst: boolean }, [hashes: readonly Buffer[]]>({
  name: 'claim-start-credit',
  text: `
insert into start_credits (mailbox_hmac)
select ($1::bytea[])[1] where not exists (select from start_credits where mailbox_hmac = any($1::bytea[]))
returning true as "isFirst"`,
});

/** Returns the credits of the account that a sign-up opens. The caller holds the lock of the mailbox. */
export async function claimStartCredit(
  db: StatementRunner,
  { credits, secrets }: SignUpPolicy,
  email: string,
): Promise<number> {
  if (credits === 0) return 0;
  const hashes = secrets.map((secret) => hashWith(secret, mailboxOf(email)));
  return (await claim(db, hashes)) === undefined ? 0 : credits;
}

function hashWith(secret: string, mailbox: string): Buffer {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'start credits', 32));
  return createHmac('sha256', key).update(mailbox).digest();
}
