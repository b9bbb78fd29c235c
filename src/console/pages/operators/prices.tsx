import { useState } from 'preact/hooks';
import type { Answer } from '../../api/call.ts';
import type { Account } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { number } from '../../ui/money.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Pager, useAddress } from '../../ui/pager.tsx';
import { Table } from '../../ui/table.tsx';
import { ExactTime } from '../../ui/time.tsx';
import { DecidedPrices } from './decided-prices.tsx';
import { SetPriceDialog } from './price-dialogs.tsx';

type PricedModel = Answer<'/api/admin/v1/prices'>['models'][number];
type Props = { readonly account?: Pick<Account, 'accountId' | 'name'> };

export function PricesPage() {
  return (
    <Page
      title="Prices"
      lead="What a second of each model costs accounts that have no price of their own. A task keeps the price of its creation."
    >
      <PriceTables />
    </Page>
  );
}

/** What counts now, and what was decided; for everybody, or for one account. */
export function PriceTables({ account }: Props) {
  const cursor = useAddress().get('cursor');
  const [priced, setPriced] = useState<PricedModel>();
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
          rows={data?.models}
          rowKey={({ model }) => model}
          expected={2}
          columns={[
            { title: 'Model', kind: 'head', cell: ({ model, title }) => <ModelName model={model} title={title} /> },
            { title: 'Credits a second', kind: 'end', cell: ({ creditsPerSecond }) => number(creditsPerSecond) },
            { title: 'Announced', cell: ({ nextPrices }) => <Announced prices={nextPrices} /> },
            {
              title: 'Actions',
              kind: 'actions',
              cell: (model) => (
                <Button size="small" onClick={() => setPriced(model)}>
                  Set a price<span class="visually-hidden"> of {model.model}</span>
                </Button>
              ),
            },
          ]}
        />
      </Card>
      <DecidedPrices prices={data?.prices} isOfAccount={account !== undefined} />
      <Pager nextCursor={data?.nextCursor} what="prices" />
      {priced !== undefined && <SetPriceDialog {...priced} account={account} onClose={() => setPriced(undefined)} />}
    </div>
  );
}

function ModelName({ model, title }: Pick<PricedModel, 'model' | 'title'>) {
  return (
    <>
      {title} <code class="faint">{model}</code>
    </>
  );
}

function Announced({ prices }: { readonly prices: PricedModel['nextPrices'] }) {
  if (prices.length === 0) return <span class="faint">–</span>;
  return (
    <ul>
      {prices.map(({ creditsPerSecond, fromTime }) => (
        <li key={fromTime}>
          {number(creditsPerSecond)} from <ExactTime ms={fromTime} />
        </li>
      ))}
    </ul>
  );
}
