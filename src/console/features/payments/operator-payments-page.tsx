import type { Answer } from '../../api/call.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { Empty } from '../../ui/feedback/empty.tsx';
import { CreditCard } from '../../ui/controls/icons.ts';
import { Loaded } from '../../ui/feedback/loaded-or-read-error.tsx';
import { formatNumber } from '../../ui/number-formats.tsx';
import { Notice } from '../../ui/feedback/notice-and-error-box.tsx';
import { Page, Tiles } from '../../ui/page-card-facts-and-tiles.tsx';
import { TableCard } from '../../ui/lists/table-card.tsx';
import { Time } from '../../ui/times-and-durations.tsx';
import { AccountLink } from '../accounts/account-link.tsx';
import { describeUngrantedReason, paymentsText as text } from './payments-text.ts';
import { PurchaseList } from './purchases.tsx';

/** Payments of all accounts, for operators. */
export function OperatorPaymentsPage() {
  const payments = useRead('/api/admin/v1/payments', {}, { everyMs: 15_000 });
  return (
    <Page lead={text.lead}>
      <Loaded of={payments} heights={[86]}>
        {(data) => <State payments={data} />}
      </Loaded>
      <PurchaseList />
    </Page>
  );
}

type StateProps = { readonly payments: Answer<'/api/admin/v1/payments'> };

function State({ payments: { provider, isTest, reconcileTime, ungranted } }: StateProps) {
  if (provider === null) {
    return <Empty icon={CreditCard} title={text.notForSale} text={text.notForSaleAdvice} />;
  }
  return (
    <>
      {ungranted.length > 0 && (
        <Notice tone="bad" title={text.ungrantedAlert(ungranted.length)} isAlert text={text.ungrantedLead} />
      )}
      <Tiles
        tiles={[
          {
            label: text.mode,
            value: isTest ? text.testMode : text.live,
            note: isTest ? text.testModeNote : text.liveNote,
          },
          { label: text.reconciled, value: <Time ms={reconcileTime} />, note: text.reconciledNote },
          { label: text.ungranted, value: formatNumber(ungranted.length), note: text.ungrantedNote },
        ]}
      />
      {ungranted.length > 0 && <Ungranted payments={ungranted} />}
    </>
  );
}

function Ungranted({ payments }: { readonly payments: StateProps['payments']['ungranted'] }) {
  return (
    <TableCard
      title={text.ungrantedTitle}
      rows={payments}
      rowKey={({ checkoutId }) => checkoutId}
      columns={[
        {
          title: text.checkout,
          kind: 'head',
          cell: ({ checkoutId }) => <code class="payment-id">{checkoutId}</code>,
        },
        { title: text.account, cell: ({ accountId }) => <AccountLink accountId={accountId} name={null} /> },
        { title: text.reason, isWide: true, cell: ({ reason }) => describeUngrantedReason(reason) },
        { title: text.found, kind: 'end', cell: ({ foundTime }) => <Time ms={foundTime} /> },
      ]}
    />
  );
}
