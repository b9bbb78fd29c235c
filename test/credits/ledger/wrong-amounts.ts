import { balance, type Books, entry, type Plant, refunding, topUp } from './damaged-books.ts';

// Books whose rows are all there and say something wrong: an amount, an account or a kind. The sound ones have the rare cases that no rule
// may report.

type Variant = Omit<Plant, 'rule'>;

const reversal = (reference: string, minorUnits: number, isTaken: boolean) =>
  `insert into top_up_reversals (top_up_id, reference, kind, minor_units, is_taken, is_final)
   select id, '${reference}', 'refund', ${minorUnits}, ${isTaken}, true from top_ups`;
/** An entry of the account, of a purchase if `topUpId` says so. */
const booked = (
  { accountId }: Pick<Books, 'accountId'>,
  kind: string,
  [amount, after]: readonly [number, number],
  topUpId = 'null',
) =>
  `insert into ledger_entries (account_id, top_up_id, kind, amount, balance_after)
   values ('${accountId}', ${topUpId}, '${kind}', ${amount}, ${after})`;
const delivered = ({ done }: Books, changes: string) =>
  `update tasks set ${changes.includes('shortfall') ? '' : `${refunding}, `}${changes} where id = '${done}'`;
/** The caps that a refund of this task restores; no trigger is in force here. */
const restoredCaps = (credits: number) =>
  `update spend_caps set spent = spent - ${credits} where subject_kind in ('account', 'member')`;
const measured = (facts: string) => `result = (result::jsonb || '${facts}')::json`;

export const wrongAmounts: readonly Plant[] = [
  {
    rule: 'entry_belongs_to_its_top_up',
    what: 'a grant for the purchase of another account',
    statements: (books) => [...topUp(books, 50), 'update top_ups set account_id = gen_random_uuid()'],
  },
  {
    rule: 'paid_top_up_is_granted',
    what: 'a payment of which only a reversal is booked',
    statements: (books) => [
      ...topUp(books, 50).slice(0, 1),
      booked(books, 'adjustment', [-50, 686], `'${books.live}'`),
      balance(686),
    ],
  },
  {
    rule: 'top_up_is_reversed_in_proportion',
    what: 'credits taken for a refund that failed',
    statements: (books) => [
      ...topUp(books, 50),
      reversal('re_1', 250, false),
      booked(books, 'adjustment', [-25, 761], `'${books.live}'`),
      balance(761),
    ],
  },
  {
    rule: 'only_reversals_overdraw',
    what: 'a balance below zero by a reversal that names no purchase',
    statements: (books) => [
      'alter table ledger_entries drop constraint only_reversals_overdraw',
      booked(books, 'adjustment', [-737, -1]),
      balance(-1),
    ],
  },
  ...(['entry_belongs_to_its_task', 'task_has_its_charge'] as const).map((rule) => ({
    rule,
    what: 'a charge on another account',
    statements: ({ live }: Books) => [
      `update ledger_entries set account_id = gen_random_uuid() where task_id = '${live}'`,
    ],
  })),
  {
    rule: 'entry_belongs_to_its_task',
    what: 'a refund that takes credits',
    statements: ({ failed }) => [
      'alter table ledger_entries drop constraint sign_fits_kind',
      `update ledger_entries set amount = -amount where task_id = '${failed}' and kind = 'refund'`,
    ],
  },
  {
    rule: 'entry_belongs_to_its_task',
    what: 'a grant that names a task',
    statements: ({ live }) => [
      'alter table ledger_entries drop constraint task_fits_kind',
      `update ledger_entries set task_id = '${live}' where id = (select min(id) from ledger_entries)`,
    ],
  },
  {
    rule: 'entry_belongs_to_its_task',
    what: 'a grant that takes credits',
    statements: (books) => [
      'alter table ledger_entries drop constraint sign_fits_kind',
      booked(books, 'grant', [-5, 731]),
      balance(731),
    ],
  },
  {
    rule: 'entry_belongs_to_its_task',
    what: 'an entry of no credits',
    statements: (books) => [
      'alter table ledger_entries drop constraint sign_fits_kind',
      booked(books, 'adjustment', [0, 736]),
    ],
  },
  {
    rule: 'task_has_its_charge',
    what: 'a charge of another amount than the task shows',
    statements: ({ live }) => [`update tasks set credits_charged = credits_charged + 1 where id = '${live}'`],
  },
  {
    rule: 'failed_task_is_refunded_in_full',
    what: 'a refund of a part',
    statements: ({ failed }) => [
      `update ledger_entries set amount = 131, balance_after = 735 where task_id = '${failed}' and kind = 'refund'`,
      balance(735),
    ],
  },
  {
    rule: 'failed_task_is_refunded_in_full',
    what: 'a refund to another account',
    statements: ({ failed }) => [
      `update ledger_entries set account_id = gen_random_uuid() where task_id = '${failed}' and kind = 'refund'`,
    ],
  },
  {
    rule: 'failed_task_is_refunded_in_full',
    what: 'a refund that the task shows in part',
    statements: ({ failed }) => [
      'alter table tasks drop constraint failed_is_refunded',
      `update tasks set credits_refunded = 131 where id = '${failed}'`,
    ],
  },
  {
    rule: 'only_failed_tasks_are_refunded',
    what: 'a refund of an unfinished task',
    statements: (books) => [entry(books, books.live, 'refund', 132), balance(868)],
  },
  {
    rule: 'only_failed_tasks_are_refunded',
    what: 'an unfinished task that shows a refund',
    statements: ({ live }) => [
      'alter table tasks drop constraint failed_is_refunded',
      `update tasks set credits_refunded = 1 where id = '${live}'`,
    ],
  },
  {
    rule: 'partial_refund_is_price_difference',
    what: 'a partial refund of another amount than the task shows',
    statements: (books) => [
      delivered(books, `credits_refunded = 33, ${measured('{"durationSeconds": 3}')}`),
      entry(books, books.done, 'partial_refund', 32),
      balance(768),
    ],
  },
  {
    rule: 'partial_refund_is_price_difference',
    what: 'a partial refund to another account',
    statements: (books) => [
      delivered(books, `credits_refunded = 33, ${measured('{"durationSeconds": 3}')}`),
      entry(books, books.done, 'partial_refund', 33).replace(`'${books.accountId}'`, 'gen_random_uuid()'),
    ],
  },
  {
    rule: 'partial_refund_is_price_difference',
    what: 'a partial refund by a model that refunds none',
    statements: (books) => [
      `update tasks set credits_refunded = 33 where id = '${books.done}'`,
      entry(books, books.done, 'partial_refund', 33),
      balance(769),
    ],
  },
  {
    rule: 'partial_refund_is_price_difference',
    what: 'a partial refund of a task that failed',
    statements: (books) => [entry(books, books.failed, 'partial_refund', 33), balance(769)],
  },
  {
    rule: 'partial_refund_is_price_difference',
    what: 'a silent video at the price of one with sound',
    statements: (books) => [delivered(books, `shortfall = ${silentTerms}, ${measured('{"hasAudio": false}')}`)],
  },
];

const silentTerms = `'{"policy": "refund", "prices": [{"name": "standard", "creditsPerSecond": 33, "creditsPerVideo": 0, "fromMs": 0}],
  "silentPrices": [{"name": "standard", "creditsPerSecond": 22, "creditsPerVideo": 0, "fromMs": 0}]}'`;

export const rareAndSound: readonly Variant[] = [
  {
    what: 'a purchase of which a half went back, and another refund failed',
    statements: (books) => [
      ...topUp(books, 50),
      reversal('re_1', 250, true),
      reversal('re_2', 250, false),
      booked(books, 'adjustment', [-25, 761], `'${books.live}'`),
      balance(761),
    ],
  },
  {
    what: 'a purchase that is not paid yet',
    statements: (books) => [
      ...topUp(books, 50).slice(0, 1),
      `update top_ups set state = 'open', paid_at = null, settled_by = null`,
    ],
  },
  {
    what: 'a reversal of credits that are spent, and a grant afterwards that leaves the balance below zero',
    statements: (books) => [
      ...topUp(books, 50),
      booked(books, 'adjustment', [-780, 6]),
      reversal('re_1', 500, true),
      booked(books, 'adjustment', [-50, -44], `'${books.live}'`),
      booked(books, 'grant', [5, -39]),
      balance(-39),
    ],
  },
  {
    what: 'a short video with its partial refund',
    statements: (books) => [
      delivered(books, `credits_refunded = 33, ${measured('{"durationSeconds": 3.4}')}`),
      entry(books, books.done, 'partial_refund', 33),
      balance(769),
      restoredCaps(33),
    ],
  },
  {
    what: 'a silent video with its partial refund',
    statements: (books) => [
      delivered(books, `credits_refunded = 44, shortfall = ${silentTerms}, ${measured('{"hasAudio": false}')}`),
      entry(books, books.done, 'partial_refund', 44),
      balance(780),
      restoredCaps(44),
    ],
  },
  {
    what: 'a video that is longer than ordered',
    statements: (books) => [delivered(books, `shortfall = ${silentTerms}, ${measured('{"durationSeconds": 9}')}`)],
  },
  {
    what: 'a short video of a model that accepts these',
    statements: (books) => [
      delivered(
        books,
        `shortfall = ${silentTerms.replace('"refund"', '"accept"')}, ${measured('{"durationSeconds": 2}')}`,
      ),
    ],
  },
  {
    what: 'entries of two accounts in turns',
    statements: (books) => {
      const other = { accountId: books.live };
      return [
        booked(other, 'grant', [7, 7]),
        booked(books, 'grant', [1, 737]),
        booked(other, 'grant', [1, 8]),
        balance(737),
      ];
    },
  },
];
