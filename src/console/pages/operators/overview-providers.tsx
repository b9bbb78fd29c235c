import { Link } from 'wouter-preact';
import type { Provider } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { opsPaths } from '../../paths.ts';
import { StateDot, type Tone } from '../../ui/badge.tsx';
import { number } from '../../ui/money.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { duration } from '../../ui/time.tsx';
import { poolHealth, switchWords } from './provider-words.ts';

/** One line for each provider; the rest is on its own page. */
export function ProvidersCard({ everyMs }: { readonly everyMs: number }) {
  const { data, error, refetch } = useRead('/api/admin/v1/providers', {}, { everyMs });
  return (
    <Card title="Providers" actions={<Link href={opsPaths.providers}>Switches and cost</Link>} isFlush>
      {data === undefined && error !== null ? (
        <div class="body">
          <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
        </div>
      ) : (
        <Table
          caption="Providers"
          rows={data?.providers}
          rowKey={({ provider }) => provider}
          expected={2}
          columns={[
            { title: 'Provider', kind: 'head', cell: ({ provider }) => <code>{provider}</code> },
            {
              title: 'Switch',
              cell: ({ state }) => <StateDot tone={switchWords[state].tone}>{switchWords[state].word}</StateDot>,
            },
            { title: 'Health', cell: (provider) => <Health provider={provider} /> },
            { title: 'Running', kind: 'end', cell: ({ pools }) => runningOf(pools) },
            { title: 'Waiting', kind: 'end', cell: ({ pools }) => number(sum(pools, ({ waiting }) => waiting)) },
            { title: 'Longest wait', kind: 'end', cell: ({ pools }) => longestOf(pools) },
          ]}
        />
      )}
    </Card>
  );
}

type Pools = Provider['pools'];

/** The pools that are worst off, by name; a provider whose pools all take tasks needs none. */
function Health({ provider: { pools } }: { readonly provider: Provider }) {
  const bad = pools.filter((pool) => pool.coolingMs !== null);
  if (pools.length === 0) return <span class="faint">no pool</span>;
  if (bad.length === 0) return <StateDot tone="good">Takes tasks</StateDot>;
  const tone: Tone = bad.length === pools.length ? 'bad' : 'warn';
  const [first] = bad;
  return (
    <StateDot tone={tone}>
      {bad.length === 1 && first !== undefined
        ? poolHealth(first).word
        : `${number(bad.length)} of ${number(pools.length)} pools cool`}
    </StateDot>
  );
}

function runningOf(pools: Pools): string {
  const running = sum(pools, ({ occupying }) => occupying);
  const isLimited = pools.every(({ limit }) => limit !== null);
  return isLimited ? `${number(running)} of ${number(sum(pools, ({ limit }) => limit ?? 0))}` : number(running);
}

function longestOf(pools: Pools): string {
  const longest = Math.max(0, ...pools.map(({ oldestWaitMs }) => oldestWaitMs ?? 0));
  return longest === 0 ? '–' : duration(longest);
}

function sum(pools: Pools, of: (pool: Pools[number]) => number): number {
  return pools.reduce((total, pool) => total + of(pool), 0);
}
