import type { Command } from 'commander';
import { maxListedAccounts } from './account.ts';
import { id, textUpTo, wholeNumber } from './arguments.ts';
import { CommandError, listed } from './output.ts';
import { commandLineActor, noAccount, type RunOnDatabase } from './run-command.ts';
import { listAccounts } from '../stores/account-list.ts';
import { type Account, findAccount } from '../stores/accounts.ts';
import { bookCreditsAs } from '../stores/credits.ts';
import { auditLedger } from '../stores/ledger-audit.ts';
import { maxReasonLength } from '../stores/prices.ts';

export function addCreditsCommands(program: Command, run: RunOnDatabase): void {
  const credits = program.command('credits').description('give credits');
  credits
    .command('grant')
    .description('add credits to an account; the entry and its reason stay in the ledger')
    .argument('<account>', 'account id', id)
    .argument('<credits>', 'how many', wholeNumber(1))
    .requiredOption('--reason <text>', `why, at most ${maxReasonLength} characters`, textUpTo(maxReasonLength))
    .action(
      run(async ({ db }, accountId: string, granted: number, { reason }: { reason: string }) => {
        const booking = { accountId, kind: 'grant', amount: granted, reason } as const;
        const outcome = await bookCreditsAs(db, commandLineActor(), booking);
        if (outcome.kind === 'account_not_found') throw noAccount(accountId);
        if (outcome.kind !== 'booked') throw new CommandError('balance out of range');
        const balance = outcome.entry.balanceAfter;
        return {
          json: { accountId, granted, balance },
          lines: [`Granted ${granted} credits; the balance is ${balance}.`],
        };
      }),
    );
}

export function addBalanceCommand(program: Command, run: RunOnDatabase): void {
  const command = program
    .command('balance')
    .description("an account's credits, or those of every account")
    .argument('[account]', 'account id', id);
  command.action(
    run(async ({ db }, accountId: string | undefined) => {
      if (accountId === undefined) {
        const accounts = await listAccounts(db, { limit: maxListedAccounts });
        return listed('accounts', accounts.map(balanceOf), balanceLine);
      }
      const account = await findAccount(db, accountId);
      if (account === undefined) throw noAccount(accountId);
      return { json: balanceOf(account), lines: [`${account.balance} credits`] };
    }),
  );
}

function balanceOf({ accountId, name, balance }: Account) {
  return { accountId, name, balance };
}

function balanceLine({ accountId, name, balance }: ReturnType<typeof balanceOf>): string {
  return `${accountId}  ${String(balance).padStart(12)} credits  ${name}`;
}

export function addAuditCommand(program: Command, run: RunOnDatabase): void {
  program
    .command('audit')
    .description('prove the books over the whole database; exit 1 when something is wrong')
    .action(
      run(async ({ db }) => {
        const violations = await auditLedger(db);
        if (violations.length > 0) process.exitCode = 1;
        const lines = violations.map(({ rule, accountId, entryId, taskId, detail }) => {
          const where = Object.entries({ account: accountId, entry: entryId, task: taskId });
          const named = where.flatMap(([kind, value]) => (value === undefined ? [] : [`${kind} ${value}`]));
          return [rule, ...named, detail].join('  ');
        });
        return { json: { violations }, lines: violations.length === 0 ? ['The books add up.'] : lines };
      }),
    );
}
