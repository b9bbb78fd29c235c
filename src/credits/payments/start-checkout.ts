import { AccountClosedError, findAccount } from '../../accounts/accounts.ts';
import type { CreditPackage } from '../../catalogue/file/packages-schema.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log/log.ts';
import type { Checkout, PaymentProvider } from './payment-provider.ts';
import { abandonTopUp, createTopUpOrder, type TopUpOrderOutcome, recordCheckout } from './top-ups.ts';

export type Purchase = {
  readonly accountId: string;
  /** The name of the package in the catalogue. */
  readonly name: string;
  readonly offer: CreditPackage;
  /** Makes the address to which the customer returns. */
  readonly returnUrl: (topUpId: string, outcome: 'success' | 'cancelled') => string;
};

export type StartCheckoutOutcome =
  | ({ readonly kind: 'started'; readonly topUpId: string } & Checkout)
  | Exclude<TopUpOrderOutcome, { readonly kind: 'opened' }>
  | { readonly kind: 'price_differs' };

/**
 * Creates a checkout for a package. Its row exists before the provider is called, so that every payment finds it; after a failure no
 * customer has the address of the checkout. Throws `AccountClosedError` and `PaymentsUnavailableError`.
 */
export async function startCheckout(
  { db, provider, log }: { readonly db: Database; readonly provider: PaymentProvider; readonly log: Log },
  { accountId, name, offer, returnUrl }: Purchase,
): Promise<StartCheckoutOutcome> {
  const opening = await createTopUpOrder(db, provider, { accountId, name, offer });
  if (opening.kind !== 'opened') return opening;
  const { order } = opening;
  const { topUpId, currency, minorUnits } = order;
  try {
    const checkout = await provider.createCheckout({
      order,
      title: offer.title,
      priceId: offer.stripePrice,
      successUrl: returnUrl(topUpId, 'success'),
      cancelUrl: returnUrl(topUpId, 'cancelled'),
    });
    if (checkout.currency !== currency || checkout.minorUnits !== minorUnits) {
      const charged = `${checkout.minorUnits} ${checkout.currency}`;
      log.error({ topUpId, package: name, charged }, 'price of the package differs at the payment provider');
      await provider.expireCheckout(checkout.checkoutId);
      await abandonTopUp(db, topUpId);
      return { kind: 'price_differs' };
    }
    await recordCheckout(db, topUpId, checkout.checkoutId);
    // A closing that is committed after this read finds the checkout in the row, and ends it.
    if ((await findAccount(db, accountId))?.closedAt !== undefined) {
      await provider.expireCheckout(checkout.checkoutId);
      throw new AccountClosedError(accountId);
    }
    return { kind: 'started', topUpId, ...checkout };
  } catch (error) {
    // Failed attempts must not count as open checkouts. A payment would still be granted.
    await abandonTopUp(db, topUpId).catch(() => undefined);
    throw error;
  }
}
