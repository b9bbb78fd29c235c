import { one } from '../../platform/database/declare-statements.ts';

export type PaymentHealth = {
  readonly ungranted: number;
  /** The first checkouts that were paid and not granted, with the reasons. */
  readonly examples: readonly string[];
  /** Payments of the last seven days, and those among them that only reconciliation has found. */
  readonly recent: number;
  readonly recentLate: number;
  /** Unix milliseconds; 0 when never. */
  readonly reconciledAt: number;
  /** By the database's clock. */
  readonly now: number;
};

export const readPaymentHealth = one<PaymentHealth>({
  name: 'read-payment-health',
  text: `
select (select count(*) from ungranted_payments) as ungranted,
  array(select checkout_id || ' (' || reason || ')' from ungranted_payments order by found_at limit 3) as examples,
  count(*) as recent, count(*) filter (where settled_by = 'reconciliation') as "recentLate",
  (select coalesce(payments_reconciled_at, 'epoch') from maintenance) as "reconciledAt", now() as now
from top_ups where paid_at > now() - interval '7 days'`,
});
