import type { Command } from 'commander';
import { type PresentedPrice, presentPrices, presentSetPrice } from '../http/presenters/price.ts';
import { id, instant, textUpTo, wholeNumber } from './arguments.ts';
import { CommandError } from './output.ts';
import { commandLineActor, noAccount, requireAccount, type RunOnDatabase } from './run-command.ts';
import { modelCatalogue, unknownModel } from '../domain/models.ts';
import {
  listPrices,
  maxCreditsPerSecond,
  maxReasonLength,
  type SetPrice,
  setPriceAs,
  withdrawPriceAs,
} from '../stores/prices.ts';

/** Decisions that are listed at most, the newest first. */
const maxListed = 100;

export function addPriceCommands(program: Command, run: RunOnDatabase): void {
  const price = program.command('price').description('say what a second of a model costs, and from when on');
  price
    .command('list')
    .description('what the models cost, and what was decided about it')
    .option('--account <account>', 'for this account; without it, for those without prices of their own', id)
    .option('--model <model>', 'decisions about this model alone')
    .action(
      run(async ({ db, config }, { account: accountId, model }: { account?: string; model?: string }) => {
        if (accountId !== undefined) await requireAccount(db, accountId);
        const models = await presentPrices({ db, models: modelCatalogue(config.models) }, accountId);
        const prices = await listPrices(db, { accountId, model, limit: maxListed });
        return {
          json: { models, prices: prices.map(presentSetPrice) },
          lines: [...models.map(modelLine), ...prices.map(priceLine)],
        };
      }),
    );
  price
    .command('set')
    .description('set a price, for tasks created from then on; every other task keeps what it was charged')
    .argument('<model>', 'such as videogen-2.0')
    .argument('<credits>', 'whole credits a second; default goes back to the list price', creditsOrDefault)
    .option('--account <account>', 'for this account alone; without it, for everybody', id)
    .option('--from <when>', 'an instant, or a span from now such as 30d; without it, in a few seconds', instant)
    .requiredOption('--reason <text>', `why, at most ${maxReasonLength} characters`, textUpTo(maxReasonLength))
    .action(
      run(async ({ db, config }, model: string, credits: number | 'default', options: SetOptions) => {
        const fault = unknownModel(modelCatalogue(config.models), model);
        if (fault !== undefined) throw new CommandError(`${model}: ${fault}`);
        const { account: accountId, from: fromMs, reason } = options;
        const creditsPerSecond = credits === 'default' ? undefined : credits;
        const wanted = { model, accountId, creditsPerSecond, fromMs, reason };
        const setting = await setPriceAs(db, commandLineActor(), wanted);
        if (setting.kind === 'account_not_found') throw noAccount(accountId ?? '');
        if (setting.kind === 'in_the_past')
          throw new CommandError('--from is past; a price counts from now on or later');
        return { json: presentSetPrice(setting.price), lines: [priceLine(setting.price)] };
      }),
    );
  price
    .command('withdraw')
    .description('withdraw a price that is not in force yet')
    .argument('<price>', 'its number, from price list', wholeNumber(1))
    .requiredOption('--reason <text>', `why, at most ${maxReasonLength} characters`, textUpTo(maxReasonLength))
    .action(
      run(async ({ db }, priceId: number, { reason }: { reason: string }) => {
        const withdrawal = await withdrawPriceAs(db, commandLineActor(), { priceId, reason });
        if (withdrawal.kind === 'price_not_found') throw new CommandError(`no such price: ${priceId}`);
        if (withdrawal.kind === 'too_late')
          throw new CommandError(`price ${priceId} is in force or about to be; set another one to follow it`);
        return { json: presentSetPrice(withdrawal.price), lines: [priceLine(withdrawal.price)] };
      }),
    );
}

type SetOptions = { account?: string; from?: number; reason: string };

function creditsOrDefault(text: string): number | 'default' {
  return text === 'default' ? 'default' : wholeNumber(1, maxCreditsPerSecond)(text);
}

function modelLine({ model, creditsPerSecond, nextPrices }: PresentedPrice): string {
  const coming = nextPrices.map((next) => `, ${next.creditsPerSecond} from ${iso(next.fromTime)}`).join('');
  return `${model}: ${creditsPerSecond} credits a second${coming}`;
}

function priceLine({
  priceId,
  model,
  accountId,
  creditsPerSecond,
  effectiveFrom,
  state,
  who,
  reason,
}: SetPrice): string {
  const whose = accountId ?? 'everybody';
  return [priceId, model, whose, creditsPerSecond ?? 'default', iso(effectiveFrom), state, who, reason].join('  ');
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
