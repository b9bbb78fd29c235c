import type { Command } from 'commander';
import { grantCredits } from '../stores/ledger.ts';
import { id, wholeNumber } from './arguments.ts';
import type { RunOnDatabase } from './command-runner.ts';
import { CommandError } from './output.ts';

export function addCreditsCommands(program: Command, run: RunOnDatabase): void {
  const credits = program.command('credits').description('give credits');
  credits
    .command('grant')
    .description('add credits to an account; the entry and its reason stay in the ledger')
    .argument('<account>', 'account id', id)
    .argument('<credits>', 'how many', wholeNumber(1))
    .requiredOption('--reason <text>', 'why, at most 500 characters')
    .action(
      run(async ({ db }, accountId: string, granted: number, { reason }: { reason: string }) => {
        const balance = await grantCredits(db, { accountId, credits: granted, reason });
        if (balance === undefined) throw new CommandError(`There is no account ${accountId}.`);
        return {
          json: { accountId, granted, balance },
          lines: [`Granted ${granted} credits; the balance is ${balance}.`],
        };
      }),
    );
}
