import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { type FakeStripe, startFakeStripe } from '../../fakes/stripe/stripe.ts';
import { catalogueWithPackages, providerAt } from '../../credits/payments/payment-stage.ts';
import { startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { type HttpService, type HttpServiceOptions, startHttpService } from '../../support/service/http-service.ts';

/** A service that sells credits, the fake of Stripe, and a browser. */
export type SellingStage = {
  readonly service: HttpService;
  readonly stripe: FakeStripe;
  readonly visitor: Visitor;
  /** The page that the browser shows instead of Stripe's, with the links that lead back. */
  leavesForStripe(page: Page): Promise<void>;
  /** The newest checkout. */
  lastSession(): string;
  /** Pays the newest checkout, and returns the id of the payment. No event is delivered. */
  pay(): string;
  /** Posts the events that were not delivered yet, signed, as Stripe does. */
  deliver(): Promise<void>;
  close(): Promise<void>;
};

const packages = {
  starter: { title: 'Starter', credits: 10_000, price: { currency: 'EUR', minorUnits: 999 } },
  studio: { title: 'Studio', credits: 120_000, price: { currency: 'EUR', minorUnits: 9_900 } },
  agency: { title: 'Agency', credits: 700_000, price: { currency: 'EUR', minorUnits: 49_900 } },
};

export async function openSellingStage(options: HttpServiceOptions = {}): Promise<SellingStage> {
  const stripe = await startFakeStripe();
  const catalogue = catalogueWithPackages(packages);
  const service = await startHttpService({ payments: providerAt(stripe), catalogue: () => catalogue, ...options });
  const visitor = await startVisitor({ baseUrl: service.url, database: service.database });
  const lastSession = () => [...stripe.records.sessions.keys()].at(-1) ?? assert.fail('no checkout was created');
  let delivered = 0;
  return {
    service,
    stripe,
    visitor,
    leavesForStripe: async (page) => {
      await page.route('https://checkout.stripe.com/**', (route) => {
        const created = stripe.exchanges.findLast(({ method }) => method === 'POST');
        const params = new URLSearchParams(created?.params);
        const link = (name: string, text: string) =>
          `<a href="${params.get(name)?.replaceAll('&', '&amp;')}">${text}</a>`;
        const body = `<h1>The fake checkout</h1>${link('success_url', 'Pay')} ${link('cancel_url', 'Back')}`;
        return route.fulfill({ contentType: 'text/html', body });
      });
    },
    lastSession,
    pay: () => stripe.records.pay(lastSession()),
    deliver: async () => {
      for (; delivered < stripe.records.events.length; delivered += 1) {
        const event = stripe.records.events[delivered] ?? assert.fail(`there is no event ${delivered}`);
        const { body, signature } = stripe.sign(event);
        const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
        const answer = await service.send('POST', '/hooks/stripe', { headers, body });
        assert.equal(answer.status, 200, answer.bytes.toString());
      }
    },
    close: async () => {
      await visitor.close();
      await service.close();
      await stripe.close();
    },
  };
}
