import { Server } from './icons.ts';
import { useState } from 'preact/hooks';
import type { Provider } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { StateDot } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { number } from '../../ui/money.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { duration, Time } from '../../ui/time.tsx';
import { MarginCard } from './margin.tsx';
import { poolHealth, switchWords } from './provider-words.ts';
import { SwitchDialog } from './provider-switch.tsx';

export function ProvidersPage() {
  const { data, error, refetch } = useRead('/api/admin/v1/providers', {}, { everyMs: 5000 });
  return (
    <Page title="Providers" lead="Who generates the videos: switches, places, waiting tasks, and what they cost.">
      {data === undefined && error !== null && <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height="180px" />}
      {data?.providers.length === 0 && (
        <Empty icon={Server} title="No providers">
          <p>The catalogue names none, so every task waits. Name one in the file of the catalogue.</p>
        </Empty>
      )}
      {data?.providers.map((provider) => (
        <ProviderCard key={provider.provider} provider={provider} />
      ))}
      {data !== undefined && <MarginCard />}
    </Page>
  );
}

function ProviderCard({ provider }: { readonly provider: Provider }) {
  const [isAsked, setAsked] = useState(false);
  const { word, tone } = switchWords[provider.state];
  const actions = (
    <>
      <StateDot tone={tone}>{word}</StateDot>
      <Button size="small" onClick={() => setAsked(true)}>
        Switch<span class="visually-hidden"> {provider.provider}</span>
      </Button>
    </>
  );
  return (
    <Card title={provider.provider} actions={actions} isFlush>
      <p class="card-note">
        <Origin provider={provider} />
        <SwitchedBy provider={provider} />
      </p>
      {provider.pools.length > 0 && (
        <Table
          caption={`Pools of ${provider.provider}`}
          rows={provider.pools}
          rowKey={({ pool }) => pool}
          columns={[
            { title: 'Pool', kind: 'head', cell: ({ pool }) => <code>{pool}</code> },
            {
              title: 'Health',
              cell: (pool) => {
                const { word: health, tone: healthTone } = poolHealth(pool, provider.state);
                return <StateDot tone={healthTone}>{health}</StateDot>;
              },
            },
            {
              title: 'Running',
              kind: 'end',
              cell: ({ occupying, limit }) =>
                limit === null ? number(occupying) : `${number(occupying)} of ${number(limit)}`,
            },
            { title: 'Waiting', kind: 'end', cell: ({ waiting }) => number(waiting) },
            {
              title: 'Longest wait',
              kind: 'end',
              cell: ({ oldestWaitMs }) => (oldestWaitMs === null ? '–' : duration(oldestWaitMs)),
            },
            { title: 'Failures in a row', kind: 'end', cell: ({ consecutiveFailures }) => number(consecutiveFailures) },
          ]}
        />
      )}
      {isAsked && <SwitchDialog provider={provider} onClose={() => setAsked(false)} />}
    </Card>
  );
}

function Origin({ provider: { kind, origin } }: { readonly provider: Provider }) {
  if (kind === null) return <>The catalogue no longer names it. </>;
  return origin === null ? <>Runs on our own workers, as many tasks as they can. </> : <>{`${kind} at ${origin}. `}</>;
}

function SwitchedBy({ provider: { who, reason, changeTime } }: { readonly provider: Provider }) {
  if (who === null || changeTime === null) return null;
  return (
    <>
      Switched by <bdi>{who}</bdi> <Time ms={changeTime} />
      {reason !== null && (
        <>
          : “<bdi>{reason}</bdi>”
        </>
      )}
      .
    </>
  );
}
