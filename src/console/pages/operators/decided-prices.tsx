import { Tags } from './icons.ts';
import { useState } from 'preact/hooks';
import type { SetPrice } from '../../api/contract.ts';
import { StateDot, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Card } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { ExactTime } from '../../ui/time.tsx';
import { WithdrawDialog } from './price-dialogs.tsx';
import { AccountLink, Amounts, PriceOf } from './references.tsx';

const states: Readonly<Record<SetPrice['state'], readonly [word: string, tone: Tone]>> = {
  announced: ['Announced', 'live'],
  in_force: ['In force', 'good'],
  past: ['Past', 'calm'],
  withdrawn: ['Withdrawn', 'warn'],
};

type DecidedProps = { readonly prices: readonly SetPrice[] | undefined; readonly isOfAccount: boolean };

/** What operators have decided, newest first; what does not count yet can be withdrawn. */
export function DecidedPrices({ prices, isOfAccount }: DecidedProps) {
  const [withdrawn, setWithdrawn] = useState<SetPrice>();
  return (
    <Card title={isOfAccount ? 'Set for this account' : 'Set by operators'} isFlush>
      {prices?.length === 0 ? (
        <Empty icon={Tags} title={isOfAccount ? 'It has no price of its own' : 'No price has been set'}>
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
            {
              title: 'Model',
              kind: 'head',
              cell: ({ model, priceName }) => <PriceOf model={model} name={priceName} />,
            },
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
              title: 'Credits',
              cell: ({ creditsPerSecond, creditsPerVideo, accountId }) =>
                creditsPerSecond === null || creditsPerVideo === null ? (
                  endOf(accountId)
                ) : (
                  <Amounts of={{ creditsPerSecond, creditsPerVideo }} />
                ),
            },
            { title: 'State', cell: ({ state }) => <StateDot tone={states[state][1]}>{states[state][0]}</StateDot> },
            { title: 'From', cell: ({ fromTime }) => <ExactTime ms={fromTime} /> },
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
