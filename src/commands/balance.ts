import type { Command } from 'commander';
import { type Account, findAccount } from '../stores/accounts.ts';
import { listAccounts } from '../stores/account-list.ts';
import { id } from './arguments.ts';
import { maxListedAccounts } from './account.ts';
import type { RunOnDatabase } from './command-runner.ts';
import { CommandError } from './output.ts';

export function addBalanceCommand(program: Command, run: RunOnDatabase): void {
  const command = program
    .command('balance')
    .description("an account's credits, or those of every account")
    .argument('[account]', 'account id', id);
  command.action(
    run(async ({ db }, accountId: string | undefined) => {
      if (accountId === undefined) {
        const accounts = await listAccounts(db, { limit: maxListedAccounts });
        return {
          json: { accounts: accounts.map(balanceOf) },
          lines: accounts.length === 0 ? ['No accounts.'] : accounts.map(balanceLine),
        };
      }
      const account = await findAccount(db, accountId);
      if (account === undefined) throw new CommandError(`There is no account ${accountId}.`);
      return { json: balanceOf(account), lines: [`${account.balance} credits`] };
    }),
  );
}

function balanceOf({ accountId, name, balance }: Account) {
  return { accountId, name, balance };
}

function balanceLine({ accountId, name, balance }: Account): string {
  return `${accountId}  ${String(balance).padStart(12)} credits  ${name}`;
}
