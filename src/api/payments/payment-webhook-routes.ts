import { z } from 'zod';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { databaseFailures } from '../core/error-catalogue.ts';
import { HttpError } from '../core/http-error.ts';
import { maxJsonBodyBytes } from '../core/request-sizes.ts';
import { requireTypeAndGetSize, readBodyBytes } from '../core/server/read-or-save-body-within-limits.ts';
import type { Logger } from 'pino';
import {
  InvalidPaymentEventError,
  type PaymentProvider,
  paymentProviderNames,
} from '../../credits/payments/payment-provider.ts';
import { type PaymentDeps, applyPaymentEvent } from '../../credits/payments/apply-payments-and-reversals.ts';

const types = ['application/json'];

type Deps = WithDb & {
  readonly log: Logger;
  readonly events: PaymentDeps['events'];
  readonly publicUrl: string;
  /** Undefined while credits are not for sale. */
  readonly payments: PaymentProvider | undefined;
};

/**
 * Each provider sends its events to an address of its own, and repeats an event until it receives a 200. The 200 is sent after the event is
 * booked, so that none is lost.
 */
export const paymentWebhookEndpoints = paymentProviderNames.map((name) =>
  defineEndpoint({
    operationId: `${name}Event`,
    route: `POST /hooks/${name}`,
    scope: 'none',
    summary: `Receive an event of ${name}`,
    description: 'Requires the signature of the payment provider. Events about other payments are ignored.',
    fileTypes: types,
    data: z.strictObject({}),
    failures: ['event_invalid', 'payments_disabled', 'payments_unavailable', ...databaseFailures],
    handler: async ({ ctx }, { db, log, events, publicUrl: serviceUrl, payments: provider }: Deps) => {
      requireTypeAndGetSize(ctx, { types, maxBytes: maxJsonBodyBytes });
      const body = await readBodyBytes(ctx.req, maxJsonBodyBytes);
      if (provider?.name !== name) throw new HttpError('payments_disabled');
      const event = await provider
        .readEvent(body, (header) => ctx.get(header))
        .catch((cause: unknown) => {
          throw cause instanceof InvalidPaymentEventError ? new HttpError('event_invalid', { cause }) : cause;
        });
      await applyPaymentEvent({ db, provider, serviceUrl, log, events }, event);
      return {};
    },
  }),
);
