import { hourMs } from '../../platform/timing/milliseconds-per-unit.ts';
import { describeErrorForLog } from '../../platform/setup-errors-and-error-messages.ts';
import { DatabaseUnavailableError } from '../../platform/database/database.ts';
import { markPaymentsReconciled } from '../last-checks-and-findings.ts';
import { many } from '../../platform/database/declare-statements.ts';
import { type Payment, PaymentsUnavailableError } from './payment-provider.ts';
import { applyPaymentAndReversals, applyReversals, type PaymentDeps } from './apply-payments-and-reversals.ts';
import { listPaymentsWithUnsettledReversals } from './book-reversals.ts';
import { deleteUngrantedPayment } from './grant-top-up-if-paid.ts';
import {
  expireTopUpOfUnknownCheckout,
  expireTopUpsWithoutCheckout,
  findTopUpByPayment,
  type GrantObstacle,
  listUnfinishedTopUps,
} from './top-ups.ts';

// Compares purchases with the provider's records, because events may not arrive: an address that redirects, a wrong secret, a restored
// database. Everything here may be repeated.

/** Events of younger purchases may still be on their way. */
const settlingMs = hourMs;
/** Stripe ends a checkout after a day. */
const checkoutMs = 25 * hourMs;
const pageSize = 100;
/** Each costs a request. Those of another account or mode of the provider stay, and must not hide newer ones. */
const maxUngranted = 10_000;

export type PaymentReconciliationCounts = { readonly checked: number; readonly failed: number };

/**
 * Reads the provider's finished checkouts, refunds and disputes since `sinceMs`, and our unfinished purchases of any age. One that fails
 * does not stop the others; an outage does. `onProgress` is called between requests and throws to stop.
 */
export async function reconcilePayments(
  deps: PaymentDeps,
  sinceMs: number,
  onProgress = () => {},
): Promise<PaymentReconciliationCounts> {
  const { db, provider } = deps;
  let [checked, failed] = [0, 0];
  const each = async (fields: Readonly<Record<string, string>>, work: () => Promise<void>) => {
    onProgress();
    checked += 1;
    try {
      await work();
    } catch (error) {
      if (error instanceof DatabaseUnavailableError || error instanceof PaymentsUnavailableError) throw error;
      failed += 1;
      deps.log.error({ ...fields, error: describeErrorForLog(error) }, 'payment not reconciled');
    }
  };
  for await (const payment of provider.listFinishedCheckouts(sinceMs)) {
    if (payment.order === undefined) continue;
    await each({ checkoutId: payment.checkoutId }, () => applyPaymentAndReversals(deps, payment, 'reconciliation'));
  }
  const createdBeforeMs = Date.now() - settlingMs;
  const unfinished = pagesOf((after) => listUnfinishedTopUps(db, createdBeforeMs, after, pageSize));
  for await (const { checkoutId } of unfinished) await each({ checkoutId }, () => readAgain(deps, checkoutId));
  await expireTopUpsWithoutCheckout(db, Date.now() - checkoutMs);
  for await (const paymentId of provider.listReversedPayments(sinceMs)) {
    // Most payments of a shared account at the provider are not ours.
    if ((await findTopUpByPayment(db, paymentId)) === undefined) continue;
    await each({ paymentId }, () => applyReversals(deps, paymentId));
  }
  for await (const { paymentId } of pagesOf((after) => listPaymentsWithUnsettledReversals(db, after, pageSize))) {
    await each({ paymentId }, () => applyReversals(deps, paymentId));
  }
  for (const { checkoutId } of await listUngrantedPayments(db, maxUngranted)) {
    await each({ checkoutId }, () => clearUngranted(deps, checkoutId));
  }
  await markPaymentsReconciled(db);
  return { checked, failed };
}

async function readAgain(deps: PaymentDeps, checkoutId: string): Promise<void> {
  const payment = await deps.provider.readCheckout(checkoutId);
  if (payment !== undefined) await applyPaymentAndReversals(deps, payment, 'reconciliation');
  // A checkout of another account or mode of the provider, as after a change of the key. It would count as open forever.
  else await expireTopUpOfUnknownCheckout(deps.db, checkoutId, Date.now() - checkoutMs);
}

/**
 * Removes a payment that could not be granted, once an operator has returned it at the provider. A checkout that the provider does not
 * have stays: the configured key may be that of another account or mode, and the customer has paid.
 */
async function clearUngranted(deps: PaymentDeps, checkoutId: string): Promise<void> {
  const payment = await deps.provider.readCheckout(checkoutId);
  if (payment !== undefined && (await isReturned(deps, payment))) await deleteUngrantedPayment(deps.db, checkoutId);
}

async function isReturned({ provider }: PaymentDeps, payment: Payment): Promise<boolean> {
  const { paymentId, minorUnits, state } = payment;
  if (state !== 'paid' || paymentId === undefined) return false;
  const reversals = (await provider.readReversals(paymentId, payment)) ?? [];
  const taken = reversals.filter(({ isTaken }) => isTaken);
  return taken.reduce((sum, one) => sum + (one.minorUnits ?? 0), 0) >= minorUnits;
}

async function* pagesOf<Row extends { readonly topUpId: string }>(
  read: (after: string | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  let after: string | undefined;
  do {
    const page = await read(after);
    yield* page;
    after = page.length < pageSize ? undefined : page.at(-1)?.topUpId;
  } while (after !== undefined);
}

export type UngrantedPayment = {
  readonly checkoutId: string;
  readonly reason: GrantObstacle;
  readonly topUpId: string;
  readonly accountId: string;
  readonly foundAt: number;
};

export const listUngrantedPayments = many<UngrantedPayment, [limit: number]>({
  name: 'list-ungranted-payments',
  text: `
select checkout_id as "checkoutId", reason, top_up_id as "topUpId", account_id as "accountId", found_at as "foundAt"
from ungranted_payments order by found_at, checkout_id limit $1`,
});
