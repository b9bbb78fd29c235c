import type { Actor } from '../domain/operator.ts';
import type { Database } from './database.ts';
import { type Done, recordAction } from './operator-actions.ts';
import { type NewRate, type RateSetting, type RateWithdrawal, type SetRate, setRate, withdrawRate } from './rates.ts';

/** As `setRate`, for an operator, and in the audit log. */
export function setRateAs(db: Database, actor: Actor, wanted: Omit<NewRate, 'who'>): Promise<RateSetting> {
  return recordAction<RateSetting>(db, actor, async (transaction) => {
    const answer = await setRate(transaction, { ...wanted, who: whoIs(actor) });
    return answer.kind === 'set' ? { answer, done: done('rates.set', answer.rate, wanted.reason) } : { answer };
  });
}

/** As `withdrawRate`, for an operator, and in the audit log. */
export function withdrawRateAs(
  db: Database,
  actor: Actor,
  { rateId, reason }: { readonly rateId: number; readonly reason: string },
): Promise<RateWithdrawal> {
  return recordAction<RateWithdrawal>(db, actor, async (transaction) => {
    const answer = await withdrawRate(transaction, { rateId, who: whoIs(actor) });
    if (answer.kind !== 'withdrawn' || !answer.changed) return { answer };
    return { answer, done: done('rates.withdraw', answer.rate, reason) };
  });
}

function done(action: 'rates.set' | 'rates.withdraw', rate: SetRate, reason: string): Done {
  const { rateId, model, accountId, creditsPerSecond = null, effectiveFrom } = rate;
  const details = { rateId, model, creditsPerSecond, effectiveFrom, reason };
  return { action, ...(accountId !== undefined && { accountId }), details };
}

function whoIs({ kind, name }: Actor): string {
  return kind === 'operator' ? name : `${name} at the command line`;
}
