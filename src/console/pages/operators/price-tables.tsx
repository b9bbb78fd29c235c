import { Tags } from 'lucide-preact';
import { useState } from 'preact/hooks';
import type { Answer } from '../../api/call.ts';
import type { Account, SetPrice } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { type Tone, StateDot } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { number } from '../../ui/money.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { Pager, useAddress } from '../../ui/pager.tsx';
import { Table } from '../../ui/table.tsx';
import { ExactTime, Time } from '../../ui/time.tsx';
import { SetPriceDialog, WithdrawDialog } from './price-dialogs.tsx';
import { AccountLink } from './references.tsx';

type PricedModel = Answer<'/api/admin/v1/prices'>['models'][number];
type Props = { readonly account?: Pick<Account, 'accountId' | 'name'> };

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
    <div class="stack">
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
      <Decided prices={data?.prices} isOfAccount={account !== undefined} />
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

const states: Readonly<Record<SetPrice['state'], readonly [word: string, tone: Tone]>> = {
  announced: ['Announced', 'live'],
  in_force: ['In force', 'good'],
  past: ['Past', 'calm'],
  withdrawn: ['Withdrawn', 'warn'],
};

type DecidedProps = { readonly prices: readonly SetPrice[] | undefined; readonly isOfAccount: boolean };

function Decided({ prices, isOfAccount }: DecidedProps) {
  const [withdrawn, setWithdrawn] = useState<SetPrice>();
  return (
    <Card title={isOfAccount ? 'Decided for this account' : 'Decided'} isFlush>
      {prices?.length === 0 ? (
        <Empty icon={Tags} title={isOfAccount ? 'It has no price of its own' : 'Nothing was decided yet'}>
          <p>
            {isOfAccount ? 'It pays what everybody pays.' : 'Each model costs what the file of the catalogue says.'}
          </p>
        </Empty>
      ) : (
        <Table
          caption="Prices that operators have set"
          rows={prices}
          rowKey={({ priceId }) => priceId}
          columns={[
            { title: 'Model', kind: 'head', cell: ({ model }) => <code class="nowrap">{model}</code> },
            ...(isOfAccount
              ? []
              : [
                  {
                    title: 'For',
                    cell: ({ accountId }: SetPrice) =>
                      accountId === null ? 'Everybody' : <AccountLink accountId={accountId} />,
                  },
                ]),
            {
              title: 'Credits a second',
              kind: 'end',
              cell: ({ creditsPerSecond, accountId }) =>
                creditsPerSecond === null ? endOf(accountId) : number(creditsPerSecond),
            },
            { title: 'State', cell: ({ state }) => <StateDot tone={states[state][1]}>{states[state][0]}</StateDot> },
            { title: 'From', cell: ({ fromTime }) => <Time ms={fromTime} /> },
            { title: 'Why', cell: ({ reason, who }) => <Why reason={reason} who={who} /> },
            {
              title: 'Actions',
              kind: 'actions',
              cell: (price) =>
                price.state === 'announced' && (
                  <Button size="small" look="danger" onClick={() => setWithdrawn(price)}>
                    Withdraw
                  </Button>
                ),
            },
          ]}
        />
      )}
      {withdrawn !== undefined && <WithdrawDialog price={withdrawn} onClose={() => setWithdrawn(undefined)} />}
    </Card>
  );
}

/** A price that only ends the one before it. */
function endOf(accountId: string | null): string {
  return accountId === null ? 'catalogue' : 'list price';
}

function Why({ reason, who }: Pick<SetPrice, 'reason' | 'who'>) {
  return (
    <>
      <bdi>{reason}</bdi>
      <small class="under">{who}</small>
    </>
  );
}
