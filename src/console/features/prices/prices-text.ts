import type { SetPrice } from '../../api/contract.ts';
import { wordAndToneOf } from '../../ui/controls/words-and-tones.ts';
import { type WordAndTone } from '../../ui/controls/words-and-tones.ts';
import { formatNumber } from '../../ui/number-formats.tsx';

/** Every text about prices. */
export const pricesText = {
  lead: 'List prices apply to accounts without custom prices. The first price of a model whose condition is met applies. Tasks keep the price at which they were created.',
  current: 'Current prices',
  noun: ['price', 'prices'],
  model: 'Model',
  price: 'Price',
  perSecond: 'Credits/s',
  perVideo: 'Credits/video',
  announced: 'Announced',
  from: 'from',
  set: 'Set price',
  setOf: (model: string, price: string | undefined) =>
    `Set price of ${model}${price === undefined ? '' : `: ${price}`}`,
  setTitle: (model: string, price: string | undefined) => `Price of ${model}${price === undefined ? '' : `: ${price}`}`,
  setFor: (whom: string, what: string) => `For ${whom}: ${what}. Applies to tasks created from that time on.`,
  everyAccount: 'all accounts without a custom price',
  cataloguePrice: 'Catalogue price',
  listPrice: 'List price',
  customPrice: 'Custom price',
  newPrice: 'New price',
  starts: 'Effective',
  now: 'Immediately',
  later: 'Later',
  time: 'Time',
  timeHint: (zone: string) => `In your time zone, ${zone}. Accounts see the price as announced until then.`,
  announce: 'Announce price',
  done: (time: string) => `Price effective ${time}`,
  setByOperators: 'Prices set by operators',
  setForAccount: 'Custom prices',
  setCaption: 'Prices set by operators',
  noneSet: 'No prices set',
  noneSetAdvice: 'Each model has the price of the catalogue file.',
  noneCustom: 'No custom prices',
  noneCustomAdvice: 'This account pays the list prices.',
  appliesTo: 'Account',
  allAccounts: 'All accounts',
  credits: 'Credits',
  state: 'State',
  effective: 'Effective',
  reason: 'Reason',
  withdraw: 'Withdraw',
  withdrawTitle: 'Withdraw this price?',
  withdrawAction: 'Withdraw price',
  withdrawHelp: (price: string, what: string, time: string) =>
    `${price}, ${what}, won’t take effect on ${time}. The current price stays.`,
  withdrawn: 'Price withdrawn',
  everyVideo: 'every video',
  everyOtherVideo: 'every other video',
  with: (field: string) => `with ${field}`,
  without: (field: string) => `without ${field}`,
  amountPerSecond: (credits: number) => `${formatNumber(credits)}/s`,
  amountPerVideo: (credits: number) => `${formatNumber(credits)}/video`,
} as const;

const stateWords: Readonly<Record<SetPrice['state'], WordAndTone>> = {
  announced: { word: 'Announced', tone: 'live' },
  in_force: { word: 'In force', tone: 'good' },
  past: { word: 'Past', tone: 'calm' },
  withdrawn: { word: 'Withdrawn', tone: 'warn' },
};

export const wordAndToneOfSetPrice = (state: string) => wordAndToneOf(stateWords, state);
