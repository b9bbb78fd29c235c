import type { AdminTopUp, UngrantedPayment } from '../../api/contract.ts';
import { wordAndToneOf } from '../../ui/controls/words-and-tones.ts';
import { labelOrName } from '../../ui/controls/words-and-tones.ts';
import { type WordAndTone } from '../../ui/controls/words-and-tones.ts';
import { formatCredits, formatNumber } from '../../ui/number-formats.tsx';

// Every text about buying credits and about payments.

const stateWords: Readonly<Record<AdminTopUp['state'], WordAndTone>> = {
  open: { word: 'Incomplete', tone: 'calm' },
  processing: { word: 'Processing', tone: 'live' },
  paid: { word: 'Paid', tone: 'good' },
  failed: { word: 'Failed', tone: 'bad' },
  expired: { word: 'Expired', tone: 'calm' },
};

export const wordAndToneOfPurchase = (state: string) => wordAndToneOf(stateWords, state);

const obstacles: Readonly<Record<UngrantedPayment['reason'], string>> = {
  amount_differs: 'The amount paid differs from the price of the package. Refund the payment in Stripe.',
  other_checkout: 'The checkout has the metadata of another one. Refund the payment in Stripe.',
  account_not_found:
    'No account has this ID. The database may be older than the payment: restore a newer backup, or refund the payment.',
  balance_out_of_range: 'The balance would become too large. Refund the payment in Stripe.',
};

export const describeUngrantedReason = (reason: string) => labelOrName(obstacles, reason);

export const paymentsText = {
  buy: 'Buy credits',
  buyLead: 'You pay in Stripe Checkout. Credits are added as soon as the payment arrives.',
  packages: 'Package',
  perThousand: (price: string) => `${price} per 1,000 credits`,
  save: (percent: number) => `Save ${percent}%`,
  continue: (price: string) => `Continue to payment: ${price}`,
  opening: 'Opening Stripe Checkout',
  openingLead: 'If the page doesn’t open, follow this link:',
  openingLink: 'Stripe Checkout',
  testTitle: 'Test mode',
  testLead: 'No real money moves. Pay with the card number 4242 4242 4242 4242, any later date and any CVC.',
  test: 'Test',

  received: 'Payment received',
  receivedLead: 'Your credits are being added. This usually takes a few seconds.',
  onItsWay: 'Payment on its way',
  onItsWayLead: 'Your bank is processing the payment, which can take a few days. Credits are added when it arrives.',
  added: (amount: number) => `${formatCredits(amount)} added`,
  addedLead: 'Thank you. You can use them right away.',
  cancelled: 'Checkout cancelled',
  cancelledLead: 'You weren’t charged.',
  failed: 'Payment failed',
  failedLead: 'No credits were added. Try again, or use another payment method.',
  expired: 'Checkout expired',
  expiredLead: 'You weren’t charged. Start again to buy credits.',
  seePurchases: 'View purchases',
  dismiss: 'Dismiss',

  noun: ['purchase', 'purchases'],
  purchase: 'Purchase',
  account: 'Account',
  amount: 'Amount',
  state: 'State',
  allStates: 'All states',
  date: 'Date',
  payment: 'Stripe ID',
  copyId: 'Copy Stripe ID',
  receipt: 'Receipt',
  receiptOf: (amount: number) => `Receipt for ${formatCredits(amount)} (opens in a new tab)`,
  refunded: 'Refunded',
  partlyRefunded: 'Partially refunded',
  takenBack: (amount: number) => `${formatNumber(amount)} taken back`,
  byReconciliation: 'found by reconciliation',
  none: 'No purchases yet',
  noneAdvice: 'Purchases of credits are listed here, with their receipts and refunds.',
  noneOfAccount: 'This account hasn’t bought credits.',

  lead: 'Credit purchases of all accounts, reconciled with Stripe.',
  mode: 'Mode',
  live: 'Live',
  testMode: 'Test',
  testModeNote: 'no real money moves',
  liveNote: 'real money',
  reconciled: 'Reconciled',
  reconciledNote: 'with Stripe, every hour',
  ungranted: 'Not granted',
  ungrantedNote: 'paid, but no credits added',
  ungrantedTitle: 'Paid but not granted',
  ungrantedAlert: (count: number) =>
    count === 1 ? '1 payment was not granted' : `${formatNumber(count)} payments were not granted`,
  ungrantedLead:
    'Customers paid and got no credits. The hourly reconciliation removes a payment once it is granted or refunded.',
  reason: 'Reason',
  checkout: 'Checkout',
  found: 'Found',
  notForSale: 'Credits are not for sale',
  notForSaleAdvice:
    'Add packages to the catalogue and set STRIPE_SECRET_KEY. Until then, operators grant credits by hand.',
} as const;
