import { many } from '../../platform/database/declare-statements.ts';
import { applyPaymentAndReversals, type PaymentDeps } from './apply-payments-and-reversals.ts';
import { maxOpenTopUps } from './top-ups.ts';

/** Lists the checkouts of an account that may still be paid. Older ones have expired at the provider. */
export const listOpenCheckouts = many<{ readonly checkoutId: string }, [accountId: string]>({
  name: 'list-open-checkouts',
  text: `
select checkout_id as "checkoutId" from top_ups
where account_id = $1 and state = 'open' and checkout_id is not null and created_at > now() - interval '25 hours'
order by id limit ${maxOpenTopUps}`,
});

/** Ends an unpaid checkout at the provider. If its customer was faster, the payment is booked. It may be repeated. */
export async function endCheckout(deps: PaymentDeps, checkoutId: string): Promise<void> {
  const { provider } = deps;
  // The provider refuses to end a checkout that has ended.
  const refusal = await provider.expireCheckout(checkoutId).catch((error: unknown) => error);
  const payment = await provider.readCheckout(checkoutId);
  if (payment?.state === 'open') throw new Error(`checkout ${checkoutId} could not be ended`, { cause: refusal });
  if (payment !== undefined) await applyPaymentAndReversals(deps, payment, 'reconciliation');
}
