import { useState } from 'preact/hooks';
import type { SetPrice } from '../../api/contract.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { WordWithDot } from '../../ui/controls/badge-and-state-dot.tsx';
import { OperatorViewAwareButton } from '../../ui/forms/operator-view-aware-button.tsx';
import { Tags } from '../../ui/controls/icons.ts';
import { List } from '../../ui/lists/list.tsx';
import { creditPriceWords } from '../../ui/number-formats.tsx';
import { Card } from '../../ui/page-card-facts-and-tiles.tsx';
import { actionColumnProps, type Column } from '../../ui/lists/table.tsx';
import { ExactTime, formatExactTime } from '../../ui/times-and-durations.tsx';
import { AccountLink } from '../accounts/account-link.tsx';
import { auditReasonHint } from '../audit/audit-reason-hint.ts';
import { ShortCreditAmounts, ModelAndPriceName } from './price-names-and-amounts.tsx';
import { pricesText, wordAndToneOfSetPrice } from './prices-text.ts';

type SetPricesProps = { readonly accountId: string | undefined };

/** Prices that operators set, newest first; a future price can be withdrawn. */
export function PricesSetByOperators({ accountId }: SetPricesProps) {
  const isOfAccount = accountId !== undefined;
  return (
    <Card title={isOfAccount ? pricesText.setForAccount : pricesText.setByOperators} isFlush>
      <List
        noun={pricesText.noun}
        caption={pricesText.setCaption}
        path="/api/admin/v1/prices"
        query={{ accountId, limit: 50 }}
        rows={({ prices }) => prices}
        rowKey={({ priceId }) => priceId}
        everyMs={15_000}
        empty={{
          icon: Tags,
          title: isOfAccount ? pricesText.noneCustom : pricesText.noneSet,
          text: isOfAccount ? pricesText.noneCustomAdvice : pricesText.noneSetAdvice,
        }}
        columns={isOfAccount ? columns.filter((column) => column !== accountColumn) : columns}
      />
    </Card>
  );
}

const accountColumn: Column<SetPrice> = {
  title: pricesText.appliesTo,
  cell: ({ accountId, accountName }) =>
    accountId === null ? pricesText.allAccounts : <AccountLink accountId={accountId} name={accountName} />,
};

const columns: readonly Column<SetPrice>[] = [
  {
    title: pricesText.model,
    kind: 'head',
    cell: ({ model, priceName }) => <ModelAndPriceName model={model} name={priceName} />,
  },
  accountColumn,
  { title: pricesText.credits, cell: (price) => <SetAmounts price={price} /> },
  { title: pricesText.state, cell: ({ state }) => <WordWithDot of={wordAndToneOfSetPrice(state)} /> },
  { title: pricesText.effective, cell: ({ fromTime }) => <ExactTime ms={fromTime} /> },
  {
    title: pricesText.reason,
    isWide: true,
    cell: ({ reason, who }) => (
      <>
        <bdi>{reason}</bdi>
        <small class="under">{who}</small>
      </>
    ),
  },
  { ...actionColumnProps, cell: (price) => <WithdrawButton price={price} /> },
];

type PriceProps = { readonly price: SetPrice };

/** The amounts, or the price that applies again when this one ends the price before. */
function SetAmounts({ price: { creditsPerSecond, creditsPerVideo, accountId } }: PriceProps) {
  if (creditsPerSecond !== null && creditsPerVideo !== null)
    return <ShortCreditAmounts of={{ creditsPerSecond, creditsPerVideo }} />;
  return <>{endOf(accountId)}</>;
}

function endOf(accountId: string | null): string {
  return accountId === null ? pricesText.cataloguePrice : pricesText.listPrice;
}

function WithdrawButton({ price }: PriceProps) {
  const [isOpen, setOpen] = useState(false);
  const { priceId, model, priceName, accountId, creditsPerSecond, creditsPerVideo, fromTime, state } = price;
  // The price may take effect while a reason is typed; the dialog then shows what the service responds.
  if (state !== 'announced' && !isOpen) return null;
  const what =
    creditsPerSecond === null || creditsPerVideo === null
      ? endOf(accountId).toLowerCase()
      : creditPriceWords({ creditsPerSecond, creditsPerVideo });
  return (
    <>
      <OperatorViewAwareButton size="small" variant="danger" onClick={() => setOpen(true)}>
        {pricesText.withdraw}
      </OperatorViewAwareButton>
      {isOpen && (
        <ActionDialog
          path="/api/admin/v1/prices/withdraw"
          title={pricesText.withdrawTitle}
          action={pricesText.withdrawAction}
          isDanger
          reason={auditReasonHint}
          body={(reason) => ({ priceId, reason })}
          done={pricesText.withdrawn}
          help={pricesText.withdrawHelp(`${model} (${priceName})`, what, formatExactTime(fromTime))}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
