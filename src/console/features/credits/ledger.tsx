import type { LedgerEntry } from '../../api/contract.ts';
import { shortId } from '../../ui/controls/short-id.ts';
import { choiceFilter, type Filter } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { Coins } from '../../ui/controls/icons.ts';
import { List } from '../../ui/lists/list.tsx';
import { SignedAmount, formatNumber, PriceNameUnlessStandard } from '../../ui/number-formats.tsx';
import type { Column } from '../../ui/lists/table.tsx';
import { Time } from '../../ui/times-and-durations.tsx';
import { TaskLink } from '../tasks/task-link.tsx';
import { creditsText, ledgerKindWord } from './credits-text.ts';

const kinds = ['charge', 'refund', 'partial_refund', 'grant', 'adjustment'] as const;

type LedgerQuery = { kind?: (typeof kinds)[number] | undefined; taskId?: string | undefined };

/** Filters of the ledger, and of its file. */
export const ledgerFilters: readonly Filter<LedgerQuery>[] = [
  choiceFilter({
    name: 'kind',
    label: creditsText.kind,
    all: creditsText.allKinds,
    values: kinds,
    word: ledgerKindWord,
  }),
  {
    name: 'taskId',
    label: creditsText.task,
    control: 'chip',
    chip: (taskId) => creditsText.ofTask(shortId(taskId)),
    query: (taskId) => ({ taskId }),
  },
];

type LedgerProps = {
  /** On operators' pages: whose ledger it is. */
  readonly accountId?: string;
  readonly fromMs?: number | undefined;
};

/** The entries of an account, newest first, for its members and for operators. */
export function Ledger({ accountId, fromMs }: LedgerProps) {
  const shared = { limit: 50, ...(fromMs !== undefined && { from: fromMs }) };
  return (
    <List
      noun={creditsText.entriesNoun}
      path={accountId === undefined ? '/api/v1/credits' : '/api/admin/v1/credits'}
      query={accountId === undefined ? shared : { ...shared, accountId }}
      filters={ledgerFilters}
      rows={({ entries }) => entries}
      rowKey={({ entryId }) => entryId}
      columns={columns}
      caption={creditsText.entriesCaption}
      empty={{ icon: Coins, title: creditsText.noEntries, text: creditsText.noEntriesAdvice }}
      everyMs={15_000}
    />
  );
}

const columns: readonly Column<LedgerEntry>[] = [
  {
    title: creditsText.entry,
    kind: 'head',
    cell: ({ kind, entryId }) => (
      <span class="nowrap">
        <strong class="strong">{ledgerKindWord(kind)}</strong> <span class="faint number">#{entryId}</span>
      </span>
    ),
  },
  { title: creditsText.reference, cell: (entry) => <Reference entry={entry} /> },
  { title: creditsText.amount, kind: 'end', cell: ({ amount }) => <SignedAmount amount={amount} /> },
  { title: creditsText.balanceAfter, kind: 'end', cell: ({ balanceAfter }) => formatNumber(balanceAfter) },
  { title: creditsText.when, kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
];

/** The task of a charge or refund, with the reason of a partial one, or the reason of a booking. */
function Reference({ entry: { taskId, reason, priceName } }: { readonly entry: LedgerEntry }) {
  if (taskId === null) return <bdi>{reason ?? '–'}</bdi>;
  return (
    <>
      <TaskLink taskId={taskId} />
      <PriceNameUnlessStandard name={priceName} />
      {reason !== null && <small class="under">{reason}</small>}
    </>
  );
}
