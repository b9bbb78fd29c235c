import type { Command } from 'commander';
import { createAccount } from '../stores/accounts.ts';
import type { RunOnDatabase } from './command-runner.ts';
import { wholeNumber } from './arguments.ts';

export function addAccountCommands(program: Command, run: RunOnDatabase): void {
  const account = program.command('account').description('open accounts');
  account
    .command('create')
    .description('open an account')
    .argument('<name>', 'whose account it is, 1 to 200 characters')
    .option('--credits <n>', 'opening credits', wholeNumber(0), 0)
    .action(
      run(async ({ db }, name: string, { credits }: { credits: number }) => {
        const accountId = await createAccount(db, { name, credits });
        return { json: { accountId }, lines: [`Account ${name}: ${accountId}, ${credits} credits`] };
      }),
    );
}
