import { createAccount } from '../open-account.ts';
import { redeemCode } from '../ledger/redemption-codes.ts';
import { recordOperatorAction } from '../../accounts/operators/audit-log.ts';
import { type Database, databaseJoiningTransaction } from '../../platform/database/database.ts';
import { maybeOne, type StatementRunner } from '../../platform/database/declare-statements.ts';
import { setMembership } from '../../accounts/people/memberships.ts';
import { consumeLink, openLinkSql, type Link, linkColumnsSql } from '../../accounts/sign-in/one-time-links.ts';
import { type Origin, recordSecurityEvent } from '../../accounts/people/security-events.ts';
import type { SessionWithToken } from '../../accounts/sign-in/sessions.ts';
import { openRecordedSession, type UserOriginAndEarlierSession } from '../../accounts/sign-in/sign-in.ts';
import { hashMailbox, checkMailboxRegistration, mailboxOf, type SignUpPolicy } from './request-sign-up.ts';
import { claimStartCredit } from './claim-start-credit.ts';
import { createUser, lockEmail, type User } from '../../accounts/people/users.ts';

export const maxAccountNameLength = 200;
const usualAccountName = 'New account';

export type SignUpConfirmation = {
  readonly link: Pick<Link, 'linkId' | 'codeHash'>;
  readonly email: string;
  /** Undefined for a person whom an identity provider has identified. */
  readonly passwordHash?: string | undefined;
  readonly accountName?: string | undefined;
  readonly policy: SignUpPolicy;
  readonly origin: Origin;
  readonly requestId: string;
};

/**
 * Opens the account of a sign-up, and signs its owner in. Returns undefined if the link is no longer open, and `code_invalid` if its code
 * can no longer be redeemed.
 */
export function confirmSignUpAndSignIn(
  db: Database,
  confirmation: SignUpConfirmation & Pick<UserOriginAndEarlierSession, 'before'>,
): Promise<SessionWithToken | 'code_invalid' | undefined> {
  const { origin, before } = confirmation;
  return db
    .transaction(async (run) => {
      const user = await createSignUpUserAndAccount({ run }, confirmation);
      return user && openRecordedSession({ run }, { user, origin, means: 'link', before });
    })
    .catch((error: unknown) => {
      if (error instanceof CodeTakenError) return 'code_invalid';
      throw error;
    });
}

/**
 * Creates user, account and start credit in the caller's transaction, so that a crash leaves all or nothing. The locks and the consumed
 * link let only one of several confirmations pass. Throws `CodeTakenError` if the code of the sign-up can no longer be redeemed.
 */
export async function createSignUpUserAndAccount(
  db: StatementRunner,
  { link, email, passwordHash, accountName = usualAccountName, policy, origin, requestId }: SignUpConfirmation,
): Promise<User | undefined> {
  const mailboxHash = hashMailbox(email);
  await lockEmail(db, email);
  await lockEmail(db, mailboxOf(email));
  if (policy.mode === 'off' || (await checkMailboxRegistration(db, email, mailboxHash)).exists) return undefined;
  if ((await consumeLink(db, link.linkId)) === undefined) return undefined;
  const user = await createUser(db, { email, passwordHash, isOperator: false, mailboxHash });
  const { userId } = user;
  const credits = await claimStartCredit(db, policy, email);
  const accountId = await createAccount(databaseJoiningTransaction(db), { name: accountName, credits });
  await setMembership(db, accountId, userId, 'owner');
  if (link.codeHash !== undefined) await redeem(db, accountId, link.codeHash);
  const details = { purpose: 'confirm', role: 'owner', isOperator: false };
  await recordSecurityEvent(db, { kind: 'link_accepted', userId, email, accountId, origin, details });
  const actor = { kind: 'user', userId, name: email, requestId } as const;
  await recordOperatorAction(db, actor, { action: 'accounts.sign_up', accountId, details: { credits } });
  return user;
}

/** Rolls the confirmation back, so that the person can sign up with another code. */
export class CodeTakenError extends Error {
  override readonly name = 'CodeTakenError';
}

async function redeem(db: StatementRunner, accountId: string, codeHash: Buffer): Promise<void> {
  const { kind } = await redeemCode(databaseJoiningTransaction(db), accountId, codeHash);
  if (kind !== 'redeemed') throw new CodeTakenError();
}

/** The newest open sign-up of an e-mail: the code of an earlier one may be used up. */
export const findOpenSignUpLinkByEmail = maybeOne<Link, [email: string]>({
  name: 'find-sign-up-of-email',
  text: `
select ${linkColumnsSql} from one_time_links where email = $1 and purpose = 'confirm' and ${openLinkSql} order by created_at desc limit 1`,
});
