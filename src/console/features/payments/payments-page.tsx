import type { Answer } from '../../api/call.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { Empty } from '../../ui/empty.tsx';
import { CreditCard } from '../../ui/icons.ts';
import { number } from '../../ui/money.tsx';
import { ErrorBox, Notice } from '../../ui/notice.tsx';
import { Card, Page, Tiles } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { AccountLink } from '../accounts/account-link.tsx';
import { obstacleWords, paymentsText as text } from './payments-text.ts';
import { Purchases } from './purchases.tsx';

/** Payments of all accounts, for operators. */
export function PaymentsPage() {
  const { data, error, refetch } = useRead('/api/admin/v1/payments', {}, { everyMs: 15_000 });
  return (
    <Page lead={text.lead}>
      {data !== undefined ? (
        <State payments={data} />
      ) : error !== null ? (
        <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
      ) : (
        <Skeleton height="86px" />
      )}
      <Purchases />
    </Page>
  );
}

type StateProps = { readonly payments: Answer<'/api/admin/v1/payments'> };

function State({ payments: { provider, isTest, reconcileTime, ungranted } }: StateProps) {
  if (provider === null) {
    return (
      <Empty icon={CreditCard} title={text.notForSale}>
        <p>{text.notForSaleAdvice}</p>
      </Empty>
    );
  }
  return (
    <>
      {ungranted.length > 0 && (
        <Notice tone="bad" title={text.ungrantedAlert(ungranted.length)} isAlert>
          <p>{text.ungrantedLead}</p>
        </Notice>
      )}
      <Tiles
        tiles={[
          {
            label: text.mode,
            value: isTest ? text.testMode : text.live,
            note: isTest ? text.testModeNote : text.liveNote,
          },
          {
            label: text.reconciled,
            value: reconcileTime === null ? text.never : <Time ms={reconcileTime} />,
            note: text.reconciledNote,
          },
          { label: text.ungranted, value: number(ungranted.length), note: text.ungrantedNote },
        ]}
      />
      {ungranted.length > 0 && <Ungranted payments={ungranted} />}
    </>
  );
}

function Ungranted({ payments }: { readonly payments: StateProps['payments']['ungranted'] }) {
  return (
    <Card title={text.ungrantedTitle} isFlush>
      <Table
        caption={text.ungrantedTitle}
        rows={payments}
        rowKey={({ checkoutId }) => checkoutId}
        columns={[
          {
            title: text.checkout,
            kind: 'head',
            cell: ({ checkoutId }) => <code class="payment-id">{checkoutId}</code>,
          },
          { title: text.account, cell: ({ accountId }) => <AccountLink accountId={accountId} name={null} /> },
          { title: text.reason, isWide: true, cell: ({ reason }) => obstacleWords(reason) },
          { title: text.found, kind: 'end', cell: ({ foundTime }) => <Time ms={foundTime} /> },
        ]}
      />
    </Card>
  );
}
