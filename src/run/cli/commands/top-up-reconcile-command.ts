import type { Command } from 'commander';
import type { MetricEventSink } from '../../../platform/metrics/metric-event-sink.ts';
import { dayMs } from '../../../platform/timing/milliseconds-per-unit.ts';
import { createLog } from '../../../platform/log/log.ts';
import { createPaymentProvider } from '../../../credits/payments/create-payment-provider.ts';
import type { PaymentSettledMetricEvent } from '../../../credits/payments/apply-payments-and-reversals.ts';
import { reconcilePayments } from '../../../credits/payments/payment-reconciliation.ts';
import { addCommand } from '../add-command.ts';
import { wholeNumberParser } from '../arguments.ts';
import { type CommandAnswer, CommandError } from '../command-output-and-errors.ts';
import type { DatabaseAndConfig, RunOnDatabase } from '../database-and-temporal-for-commands.ts';
import { publicUrlOf } from '../generate/service-options.ts';

export function addTopUpReconcileCommand(program: Command, run: RunOnDatabase): void {
  const topUp = addCommand(program, 'top-up').description('compare purchases of credits with the payment provider');
  addCommand(topUp, 'reconcile', '', '--days 60')
    .description("compare with the payment provider's records: grant missing payments, and book missing refunds")
    .option(
      '--days <days>',
      'read the records of so many days; more after restoring an older database',
      wholeNumberParser(1, 3650),
      7,
    )
    .action(run(reconcile));
}

async function reconcile({ db, config }: DatabaseAndConfig, { days }: { days: number }): Promise<CommandAnswer> {
  const serviceUrl = await publicUrlOf(config);
  const provider = createPaymentProvider({ ...config, publicUrl: serviceUrl });
  if (provider === undefined)
    throw new CommandError('no payment provider: set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET');
  const counts = { granted: 0, granted_late: 0, not_granted: 0, reversed: 0, not_comparable: 0, unknown: 0 };
  const events: MetricEventSink<PaymentSettledMetricEvent> = {
    emit: (event) => {
      if (event.kind === 'payment_settled') counts[event.outcome] += 1;
    },
  };
  const log = createLog({ level: 'silent' });
  const { checked, failed } = await reconcilePayments(
    { db, provider, serviceUrl, log, events },
    Date.now() - days * dayMs,
  );
  const { granted_late: granted, not_granted: notGranted, reversed, not_comparable: notComparable } = counts;
  if (failed + notGranted + notComparable > 0) process.exitCode = 1;
  return {
    json: { checked, granted, reversed, notGranted, failed },
    lines: [
      `${checked} records compared: ${granted} payments granted, ${reversed} refunds and disputes booked.`,
      ...(notComparable > 0
        ? [
            `${notComparable} refunds or disputes are in another currency; book their credits by hand (POST /api/admin/v1/credits/adjust).`,
          ]
        : []),
      ...(notGranted > 0 ? [`${notGranted} payments cannot be granted (videogen doctor).`] : []),
      ...(config.publicUrl === undefined
        ? [`Purchases that the database lacks were added only if they were made at ${serviceUrl}.`]
        : []),
      ...(failed > 0 ? [`${failed} records failed; the log of the service has the reasons after its next run.`] : []),
    ],
  };
}
