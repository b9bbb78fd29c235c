import type { Logger } from 'pino';
import { z } from 'zod';
import type { WithCatalogueGetter } from '../../catalogue/file/catalogue-schema-and-types.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { HttpError } from '../core/http-error.ts';
import { oneOf, uncheckedIdField, unixMsSchema } from '../core/request-fields.ts';
import { cutPage, idPageParameters, idParameter, nextCursorSchema, strictQuery } from '../core/query-parameters.ts';
import { readLastChecksAndFindings } from '../../credits/last-checks-and-findings.ts';
import { type PaymentProvider, paymentProviderNames } from '../../credits/payments/payment-provider.ts';
import { listUngrantedPayments } from '../../credits/payments/payment-reconciliation.ts';
import { startCheckout } from '../../credits/payments/start-checkout.ts';
import {
  adminTopUpSchema,
  presentAdminTopUp,
  presentTopUp,
  presentUngrantedPayment,
  packagePriceSchema,
  topUpSchema,
  ungrantedPaymentSchema,
} from './top-up-view.ts';
import { listTopUps, maxOpenTopUps, topUpStates } from '../../credits/payments/top-ups.ts';

const providerFields = {
  provider: z.enum(paymentProviderNames).nullable().meta({ description: 'Null while credits are not for sale.' }),
  isTest: z.boolean().meta({ description: 'True in test mode: no real money moves.' }),
};

function presentProvider(payments: PaymentProvider | undefined) {
  return { provider: payments?.name ?? null, isTest: payments?.isTest ?? false };
}

/** `payments`: undefined while credits are not for sale. */
type PaymentDeps = { readonly payments: PaymentProvider | undefined };
type SaleDeps = PaymentDeps & WithCatalogueGetter;
type CheckoutDeps = WithDb & SaleDeps & { readonly log: Logger; readonly console: { readonly publicUrl: string } };

const packages = defineEndpoint({
  operationId: 'listPackages',
  route: 'GET /api/console/v1/credits/packages',
  scope: 'member',
  summary: 'List packages of credits for sale',
  description: 'Lists no packages while credits are not for sale.',
  data: z.strictObject({
    ...providerFields,
    packages: z.array(
      z.strictObject({
        package: z.string(),
        title: z.string(),
        credits: z.int().positive(),
        price: packagePriceSchema,
      }),
    ),
  }),
  handler: async (_call, { catalogue, payments }: SaleDeps) => {
    const offered = payments === undefined ? [] : [...catalogue().packages];
    return {
      ...presentProvider(payments),
      packages: offered.map(([name, { title, credits, price }]) => ({ package: name, title, credits, price })),
    };
  },
});

const start = defineEndpoint({
  operationId: 'startTopUp',
  route: 'POST /api/console/v1/credits/top-ups',
  scope: 'owner',
  summary: 'Start a purchase of credits',
  description:
    "Creates a checkout at the payment provider. Open `checkoutUrl` in the customer's browser; it leads back to the account's credits, " +
    'with `topUp` and `checkout` (`success` or `cancelled`) in the query. The credits are granted once the payment has arrived, which ' +
    `may be before or after that. At most ${maxOpenTopUps} checkouts of an account may be open.`,
  body: z.strictObject({ package: uncheckedIdField.meta({ description: 'The name of a package.' }) }),
  data: z.strictObject({ topUpId: z.string(), checkoutUrl: z.string(), expireTime: unixMsSchema }),
  failures: [
    'payments_disabled',
    'package_not_found',
    'account_suspended',
    'account_closed',
    'too_many_top_ups',
    'package_unavailable',
    'payments_unavailable',
  ],
  handler: async ({ accountId, input: { package: name } }, deps: CheckoutDeps) => {
    const { db, log, payments: provider, console: settings } = deps;
    if (provider === undefined) throw new HttpError('payments_disabled');
    const offer = deps.catalogue().packages.get(name);
    if (offer === undefined) throw new HttpError('package_not_found');
    const returnUrl = (topUpId: string, checkout: string) =>
      `${settings.publicUrl}/console/a/${accountId}/credits?${new URLSearchParams({ topUp: topUpId, checkout }).toString()}`;
    const started = await startCheckout({ db, provider, log }, { accountId, name, offer, returnUrl });
    switch (started.kind) {
      case 'started':
        return { topUpId: started.topUpId, checkoutUrl: started.url, expireTime: started.expiresAt };
      case 'account_suspended':
        throw new HttpError('account_suspended');
      case 'too_many_top_ups':
        throw new HttpError('too_many_top_ups', { data: { limit: maxOpenTopUps } });
      case 'price_differs':
      default:
        throw new HttpError('package_unavailable');
    }
  },
});

const listed = 'Lists purchases newest first.';

const list = defineEndpoint({
  operationId: 'listTopUps',
  route: 'GET /api/console/v1/credits/top-ups',
  scope: 'member',
  summary: 'List purchases of credits',
  description: listed,
  query: strictQuery(idPageParameters),
  data: z.strictObject({ topUps: z.array(topUpSchema), nextCursor: nextCursorSchema }),
  handler: async ({ accountId, role, query: { cursor: before, limit } }, { db }) => {
    const rows = await listTopUps(db, { accountId, before, limit: limit + 1 });
    const { page, nextCursor } = cutPage(rows, limit, ({ topUpId }) => topUpId);
    return { topUps: page.map((topUp) => presentTopUp(topUp, { isOwner: role === 'owner' })), nextCursor };
  },
});

const adminList = defineEndpoint({
  operationId: 'adminListTopUps',
  route: 'GET /api/admin/v1/top-ups',
  summary: 'List purchases of credits of all accounts',
  description: listed,
  query: strictQuery({
    accountId: idParameter('an account').optional(),
    state: oneOf(topUpStates).optional(),
    ...idPageParameters,
  }),
  data: z.strictObject({ topUps: z.array(adminTopUpSchema), nextCursor: nextCursorSchema }),
  handler: async ({ query: { accountId, state, cursor: before, limit } }, { db }) => {
    const rows = await listTopUps(db, { accountId, state, before, limit: limit + 1 });
    const { page, nextCursor } = cutPage(rows, limit, ({ topUpId }) => topUpId);
    return { topUps: page.map(presentAdminTopUp), nextCursor };
  },
});

const maxUngranted = 100;

const adminShow = defineEndpoint({
  operationId: 'adminShowPayments',
  route: 'GET /api/admin/v1/payments',
  summary: 'Get the state of payments',
  data: z.strictObject({
    ...providerFields,
    reconcileTime: unixMsSchema
      .nullable()
      .meta({ description: "When purchases were last compared with the provider's records." }),
    ungranted: z.array(ungrantedPaymentSchema).meta({
      description: `The oldest ${maxUngranted} payments that were not granted. Return them at the provider, or remove the reason.`,
    }),
  }),
  handler: async (_call, { db, payments }: WithDb & PaymentDeps) => {
    const { paymentsReconciledAt } = await readLastChecksAndFindings(db);
    return {
      ...presentProvider(payments),
      reconcileTime: paymentsReconciledAt === 0 ? null : paymentsReconciledAt,
      ungranted: (await listUngrantedPayments(db, maxUngranted)).map(presentUngrantedPayment),
    };
  },
});

export const paymentEndpoints = [packages, start, list];
export const operatorPaymentEndpoints = [adminList, adminShow];
