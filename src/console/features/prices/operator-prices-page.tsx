import type { Account, ModelPrice } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { DialogButton } from '../../ui/forms/dialog.tsx';
import { Loaded } from '../../ui/feedback/loaded-or-read-error.tsx';
import { formatNumber } from '../../ui/number-formats.tsx';
import { Page } from '../../ui/page-card-facts-and-tiles.tsx';
import { TableCard } from '../../ui/lists/table-card.tsx';
import { ExactTime, useNow } from '../../ui/times-and-durations.tsx';
import { actionColumnProps } from '../../ui/lists/table.tsx';
import {
  ShortCreditAmounts,
  currentAndAnnouncedAmounts,
  conditionWords,
  type PricedModel,
  type PriceWithModel,
} from './price-names-and-amounts.tsx';
import { pricesText } from './prices-text.ts';
import { SetPriceDialog } from './set-price-dialog.tsx';
import { PricesSetByOperators } from './prices-set-by-operators.tsx';

type Props = { readonly account?: Pick<Account, 'accountId' | 'name'> | undefined };

export function OperatorPricesPage() {
  return (
    <Page lead={pricesText.lead}>
      <CurrentAndSetPrices />
    </Page>
  );
}

/** List prices, or those of one account: what is in force, and what operators have set. */
export function CurrentAndSetPrices({ account }: Props) {
  const query = { accountId: account?.accountId, limit: 1 };
  const prices = useRead('/api/admin/v1/prices', query, { everyMs: 15_000 });
  return (
    <div class="stack loose">
      <Loaded of={prices} waiting={<CurrentPrices account={account} />}>
        {({ models }) => <CurrentPrices account={account} lines={models.flatMap(linesOf)} />}
      </Loaded>
      <PricesSetByOperators accountId={account?.accountId} />
    </div>
  );
}

/** `lines` is undefined while the prices are loaded. */
function CurrentPrices({ account, lines }: Props & { readonly lines?: readonly PriceWithModel[] }) {
  const now = useNow(5_000);
  return (
    <TableCard
      title={pricesText.current}
      rows={lines}
      rowKey={({ model, price }) => `${model} ${price.name}`}
      expected={2}
      columns={[
        { title: pricesText.model, kind: 'head', cell: (line) => <ModelName line={line} /> },
        { title: pricesText.price, cell: (line) => <PriceName line={line} /> },
        {
          title: pricesText.perSecond,
          kind: 'end',
          cell: ({ price }) => amount(currentAndAnnouncedAmounts(price, now).current?.creditsPerSecond),
        },
        {
          title: pricesText.perVideo,
          kind: 'end',
          cell: ({ price }) => amount(currentAndAnnouncedAmounts(price, now).current?.creditsPerVideo),
        },
        {
          title: pricesText.announced,
          cell: ({ price }) => <Announced amounts={currentAndAnnouncedAmounts(price, now).announced} />,
        },
        { ...actionColumnProps, cell: (line) => <SetButton line={line} account={account} /> },
      ]}
    />
  );
}

type LineProps = { readonly line: PriceWithModel };

function SetButton({ line, account }: LineProps & Props) {
  const { model, price, isOnly } = line;
  return (
    <DialogButton
      label={pricesText.set}
      aria-label={pricesText.setOf(model, isOnly ? undefined : price.name)}
      size="small"
    >
      {(close) => <SetPriceDialog line={line} account={account} onClose={close} />}
    </DialogButton>
  );
}

function ModelName({ line: { model, title } }: LineProps) {
  return (
    <>
      <bdi>{title}</bdi>
      <code class="under">{model}</code>
    </>
  );
}

function linesOf({ model, title, prices }: PricedModel): readonly PriceWithModel[] {
  return prices.map((price) => ({ model, title, price, isOnly: prices.length === 1 }));
}

function PriceName({ line: { price, isOnly } }: LineProps) {
  return (
    <>
      <bdi>{price.name}</bdi>
      <small class="under">{conditionWords(price.when, isOnly)}</small>
    </>
  );
}

/** A price that has not begun has no amounts. */
function amount(credits: number | undefined) {
  return credits === undefined ? <span class="faint">–</span> : formatNumber(credits);
}

function Announced({ amounts }: { readonly amounts: ModelPrice['rates'] }) {
  if (amounts.length === 0) return <span class="faint">–</span>;
  return (
    <ul>
      {amounts.map((one) => (
        <li key={one.fromTime}>
          <ShortCreditAmounts of={one} />
          <small class="under">
            {pricesText.from} <ExactTime ms={one.fromTime} />
          </small>
        </li>
      ))}
    </ul>
  );
}
