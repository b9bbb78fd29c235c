import { useState } from 'preact/hooks';
import type { Answer } from '../../api/call.ts';
import type { Account, ModelPrice } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { number } from '../../ui/money.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Pager, useAddress } from '../../ui/pager.tsx';
import { Table } from '../../ui/table.tsx';
import { ExactTime, useNow } from '../../ui/time.tsx';
import { DecidedPrices } from './decided-prices.tsx';
import { Amounts } from './references.tsx';
import { SetPriceDialog } from './price-dialogs.tsx';
import { conditionWords, amountsAt } from './price-words.ts';

type PricedModel = Answer<'/api/admin/v1/prices'>['models'][number];
/** One of the prices of a model. */
type PriceLine = Pick<PricedModel, 'model' | 'title'> & { readonly price: ModelPrice; readonly isOnly: boolean };
type Props = { readonly account?: Pick<Account, 'accountId' | 'name'> };

export function PricesPage() {
  return (
    <Page
      title="Prices"
      lead="What a video costs accounts that have no price of their own. The first price of a model whose condition holds applies; a task keeps it."
    >
      <PriceTables />
    </Page>
  );
}

/** The prices in force and those that were set, as list prices or for one account. */
export function PriceTables({ account }: Props) {
  const cursor = useAddress().get('cursor');
  const [priced, setPriced] = useState<PriceLine>();
  const now = useNow(1000);
  const { data, error, refetch } = useRead(
    '/api/admin/v1/prices',
    { accountId: account?.accountId, cursor, limit: 50 },
    { keeps: true, everyMs: 15_000 },
  );
  if (data === undefined && error !== null)
    return <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />;
  return (
    <div class="stack loose">
      <Card title="Now" isFlush>
        <Table
          caption="Prices in force"
          rows={data?.models.flatMap(linesOf)}
          rowKey={({ model, price }) => `${model} ${price.name}`}
          expected={2}
          columns={[
            { title: 'Model', kind: 'head', cell: ({ model, title }) => <ModelName model={model} title={title} /> },
            { title: 'Price', cell: ({ price, isOnly }) => <PriceName price={price} isOnly={isOnly} /> },
            {
              title: 'Credits a second',
              kind: 'end',
              cell: ({ price }) => amount(amountsAt(price, now).current?.creditsPerSecond),
            },
            {
              title: 'Credits a video',
              kind: 'end',
              cell: ({ price }) => amount(amountsAt(price, now).current?.creditsPerVideo),
            },
            { title: 'Announced', cell: ({ price }) => <Announced amounts={amountsAt(price, now).announced} /> },
            {
              title: 'Actions',
              kind: 'actions',
              cell: (line) => (
                <Button size="small" onClick={() => setPriced(line)}>
                  Set a price
                  <span class="visually-hidden">
                    {' '}
                    of {line.model}
                    {!line.isOnly && `: ${line.price.name}`}
                  </span>
                </Button>
              ),
            },
          ]}
        />
      </Card>
      <DecidedPrices prices={data?.prices} isOfAccount={account !== undefined} />
      <Pager nextCursor={data?.nextCursor} what="prices" />
      {priced !== undefined && (
        <SetPriceDialog
          {...priced}
          current={amountsAt(priced.price, now).current}
          account={account}
          onClose={() => setPriced(undefined)}
        />
      )}
    </div>
  );
}

function ModelName({ model, title }: Pick<PricedModel, 'model' | 'title'>) {
  return (
    <>
      <bdi>{title}</bdi>
      <code class="under">{model}</code>
    </>
  );
}

function linesOf({ model, title, prices }: PricedModel): readonly PriceLine[] {
  return prices.map((price) => ({ model, title, price, isOnly: prices.length === 1 }));
}

function PriceName({ price: { name, when }, isOnly }: Pick<PriceLine, 'price' | 'isOnly'>) {
  return (
    <>
      <bdi>{name}</bdi>
      <small class="under">{conditionWords(when, isOnly)}</small>
    </>
  );
}

/** A price that has not begun has no amounts. */
function amount(credits: number | undefined) {
  return credits === undefined ? <span class="faint">–</span> : number(credits);
}

function Announced({ amounts }: { readonly amounts: ModelPrice['rates'] }) {
  if (amounts.length === 0) return <span class="faint">–</span>;
  return (
    <ul>
      {amounts.map((one) => (
        <li key={one.fromTime}>
          <Amounts of={one} />
          <small class="under">
            from <ExactTime ms={one.fromTime} />
          </small>
        </li>
      ))}
    </ul>
  );
}
