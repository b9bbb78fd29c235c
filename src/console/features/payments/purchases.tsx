import type { AdminTopUp, TopUp } from '../../api/contract.ts';
import { Badge, StateWithDot, WordWithDot } from '../../ui/controls/badge-and-state-dot.tsx';
import { useIsOperatorPage } from '../../api/session.ts';
import { CopyId } from '../../ui/controls/copy-button.tsx';
import { choiceFilter } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { CreditCard, ExternalLink } from '../../ui/controls/icons.ts';
import { List } from '../../ui/lists/list.tsx';
import { formatCredits, formatMinorUnits } from '../../ui/number-formats.tsx';
import { actionColumnProps, type Column } from '../../ui/lists/table.tsx';
import { Time } from '../../ui/times-and-durations.tsx';
import { AccountLink } from '../accounts/account-link.tsx';
import { TestModeNotice, useCreditPackages } from './buy-credits.tsx';
import { paymentsText as text, wordAndToneOfPurchase } from './payments-text.ts';
import './payments.css';

type PurchaseView = TopUp & Partial<AdminTopUp>;

/** The purchases of the account in the address. */
export function OwnPurchases() {
  const sale = useCreditPackages();
  return (
    <>
      {sale?.isTest === true && <TestModeNotice />}
      <PurchaseList />
    </>
  );
}

const states = ['paid', 'processing', 'open', 'failed', 'expired'] as const;

const filters = [
  choiceFilter({
    name: 'state',
    label: text.state,
    all: text.allStates,
    values: states,
    word: (state) => wordAndToneOfPurchase(state).word,
  }),
];

/** The purchases of the account in the address; for operators those of one account, or of all. */
export function PurchaseList({ accountId }: { readonly accountId?: string }) {
  const isOperator = useIsOperatorPage();
  const isOfAll = isOperator && accountId === undefined;
  return (
    <List
      noun={text.noun}
      path={isOperator ? '/api/admin/v1/top-ups' : '/api/console/v1/credits/top-ups'}
      query={{ limit: 30, ...(accountId !== undefined && { accountId }) }}
      {...(isOperator && { filters })}
      rows={({ topUps }) => topUps}
      rowKey={({ topUpId }) => topUpId}
      columns={isOfAll ? columnsOfAll : isOperator ? columnsOfOperators : columns}
      everyMs={15_000}
      empty={{
        icon: CreditCard,
        title: text.none,
        text: isOperator && !isOfAll ? text.noneOfAccount : text.noneAdvice,
      }}
    />
  );
}

const head: Column<PurchaseView> = {
  title: text.purchase,
  kind: 'head',
  cell: ({ credits: amount, package: name, isTest }) => (
    <>
      <span class="row purchase">
        <strong>{formatCredits(amount)}</strong> {isTest && <Badge tone="warn">{text.test}</Badge>}
      </span>
      <small class="under">
        <bdi>{name}</bdi>
      </small>
    </>
  ),
};

const rest: readonly Column<PurchaseView>[] = [
  { title: text.state, cell: (purchase) => <PurchaseState purchase={purchase} /> },
  { title: text.amount, kind: 'end', cell: ({ price }) => formatMinorUnits(price.minorUnits, price.currency) },
  { title: text.date, kind: 'end', cell: ({ paidTime, createTime }) => <Time ms={paidTime ?? createTime} /> },
  { ...actionColumnProps, cell: (purchase) => <ReceiptLink purchase={purchase} /> },
];

const columns: readonly Column<PurchaseView>[] = [head, ...rest];

const paymentColumn: Column<PurchaseView> = {
  title: text.payment,
  cell: ({ paymentId, checkoutId, settledBy }) => (
    <>
      <StripeId id={paymentId ?? checkoutId ?? null} />
      {settledBy === 'reconciliation' && <small class="under">{text.byReconciliation}</small>}
    </>
  ),
};

function StripeId({ id }: { readonly id: string | null }) {
  if (id === null) return <>–</>;
  return <CopyId id={id} label={text.copyId} isShort />;
}

const accountColumn: Column<PurchaseView> = {
  title: text.account,
  cell: ({ accountId, accountName }) =>
    accountId !== undefined && <AccountLink accountId={accountId} name={accountName ?? null} />,
};

const columnsOfOperators: readonly Column<PurchaseView>[] = [head, paymentColumn, ...rest];
const columnsOfAll: readonly Column<PurchaseView>[] = [head, accountColumn, paymentColumn, ...rest];

type PurchaseProps = { readonly purchase: PurchaseView };

/** A refund or a dispute takes back all credits or a part of them; the payment stays paid. */
function PurchaseState({ purchase: { state, credits: amount, reversedCredits } }: PurchaseProps) {
  if (reversedCredits <= 0) return <WordWithDot of={wordAndToneOfPurchase(state)} />;
  return (
    <>
      <StateWithDot tone="warn">{reversedCredits < amount ? text.partlyRefunded : text.refunded}</StateWithDot>
      <small class="under">{text.takenBack(reversedCredits)}</small>
    </>
  );
}

function ReceiptLink({ purchase: { receiptUrl, credits: amount } }: PurchaseProps) {
  if (receiptUrl === null) return null;
  return (
    <a class="button small" href={receiptUrl} target="_blank" rel="noopener" aria-label={text.receiptOf(amount)}>
      {text.receipt} <ExternalLink size={14} aria-hidden="true" />
    </a>
  );
}
