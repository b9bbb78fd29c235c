import { hourMs } from '../../platform/timing/milliseconds-per-unit.ts';
import type { PaymentHealth } from '../../credits/payments/payment-health.ts';
import { failure, type Finding, ok, warning } from './checks-and-findings.ts';

export type PaymentsToCheck = {
  /** Undefined while no payment provider is set. */
  readonly provider: { readonly isTest: boolean } | undefined;
  readonly packages: number;
};

/** Reconciliation runs every hour. */
const overdueMs = 3 * hourMs;
const page = 'docs/operations/payments.md';

/** The first finding that applies, the most expensive one first. */
export function paymentHealthFinding({ provider, packages }: PaymentsToCheck, health: PaymentHealth): Finding {
  const check = 'payments';
  const { ungranted, examples, recent, recentLate, reconciledAt, now } = health;
  if (ungranted > 0)
    return failure(
      check,
      `paid but not granted: ${examples.join(', ')}${ungranted > examples.length ? ` and ${ungranted - examples.length} more` : ''}`,
      `Return the payment at the provider, or remove the reason; ${page} explains each.`,
    );
  if (provider === undefined && packages === 0) return ok(check, 'off: the catalogue has no packages of credits');
  if (provider === undefined)
    return warning(
      check,
      `off, although the catalogue has ${packages} packages`,
      'Set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET.',
    );
  if (packages === 0) return warning(check, 'nothing is for sale', 'Add packages to the catalogue.');
  const mode = provider.isTest ? '; in test mode, so no real money moved' : '';
  if (recentLate > 0)
    return warning(
      check,
      `${recentLate} of ${recent} payments of the last 7 days were granted by reconciliation, because no event had arrived${mode}`,
      `Check the event destination at the provider: its address must not redirect, and its secret must be ours (${page}).`,
    );
  if (now - reconciledAt > overdueMs)
    return warning(
      check,
      reconciledAt === 0
        ? `never compared with the provider${mode}`
        : `not compared with the provider for ${Math.floor((now - reconciledAt) / hourMs)} hours${mode}`,
      'Check that a worker of the queue tasks runs, that it has STRIPE_SECRET_KEY, and that it reaches the provider.',
    );
  if (provider.isTest)
    return warning(
      check,
      'test mode: test cards buy credits without real money',
      'Set the live key before you sell to customers.',
    );
  return ok(check, `${packages} packages for sale; ${recent} payments in the last 7 days`);
}
