import { v7 as uuidv7 } from 'uuid';
import { type Account, findAccount } from '../accounts/accounts.ts';
import type { Actor } from '../accounts/operators/actors-and-actions.ts';
import { changeWithAudit } from '../accounts/operators/audit-log.ts';
import type { Database } from '../platform/database/database.ts';
import { maybeOne, type StatementRunner } from '../platform/database/declare-statements.ts';
import { openingEntrySql } from './ledger/ledger-entry-sql.ts';

type NewAccount = { readonly name: string; readonly credits: number };

const opening = (name: string, condition: string) =>
  maybeOne<{ id: string }, [accountId: string, account: NewAccount]>({
    name,
    text: `
with account as (
  insert into accounts (id, name, balance) select $1, $2, $3 where ${condition} returning id, balance
), ${openingEntrySql}
select id from account`,
    values: (accountId, { name: accountName, credits }) => [accountId, accountName, credits],
  });
const open = opening('create-account', 'true');
const openFirst = opening('create-first-account', 'not exists (select from accounts)');

/** Returns the id of the account. `credits` is a whole number, not negative. */
export async function createAccount(db: Database, account: NewAccount): Promise<string> {
  const accountId = uuidv7();
  await open(db, accountId, account);
  return accountId;
}

export async function createAccountIfNone(db: StatementRunner, account: NewAccount): Promise<string | undefined> {
  return (await openFirst(db, uuidv7(), account))?.id;
}

export function openAccountAs(db: Database, actor: Actor, account: NewAccount): Promise<Account> {
  return changeWithAudit(db, actor, async (transaction) => {
    const accountId = await createAccount(transaction, account);
    const answer = await findAccount(transaction, accountId);
    if (answer === undefined) throw new Error(`account ${accountId} not found after its creation`);
    return { answer, done: { action: 'accounts.create', accountId, details: account } };
  });
}
