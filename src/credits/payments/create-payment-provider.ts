import type { PaymentProvider } from './payment-provider.ts';
import { createStripeProvider } from './stripe/stripe-provider.ts';

export type PaymentSettings = {
  readonly stripeSecretKey?: string | undefined;
  readonly stripeWebhookSecret?: string | undefined;
  readonly stripeApiUrl: string;
  /** The address of this installation, which marks its checkouts. */
  readonly publicUrl: string;
};

/** Returns the provider that the settings name, undefined if purchases are off. */
export function createPaymentProvider(settings: PaymentSettings): PaymentProvider | undefined {
  const { stripeSecretKey: secretKey, stripeWebhookSecret: webhookSecret } = settings;
  if (secretKey === undefined || webhookSecret === undefined) return undefined;
  const { stripeApiUrl: apiUrl, publicUrl: serviceUrl } = settings;
  return createStripeProvider({ secretKey, webhookSecret, apiUrl, serviceUrl });
}
