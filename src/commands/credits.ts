import type { Command } from 'commander';
import { bookCreditsAs } from '../stores/credits.ts';
import { maxReasonLength } from '../stores/prices.ts';
import { id, textUpTo, wholeNumber } from './arguments.ts';
import { commandLineActor } from './command-line-actor.ts';
import type { RunOnDatabase } from './command-runner.ts';
import { CommandError } from './output.ts';

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
        if (outcome.kind === 'account_not_found') throw new CommandError(`There is no account ${accountId}.`);
        if (outcome.kind !== 'booked') throw new CommandError('The balance would grow beyond what can be counted.');
        const balance = outcome.entry.balanceAfter;
        return {
          json: { accountId, granted, balance },
          lines: [`Granted ${granted} credits; the balance is ${balance}.`],
        };
      }),
    );
}
