import { Link } from 'wouter-preact';
import type { Provider } from '../../api/contract.ts';
import { opsPaths } from '../../paths.ts';
import { StateDot, type Tone } from '../../ui/badge.tsx';
import { number } from '../../ui/money.tsx';
import { Card } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { duration } from '../../ui/time.tsx';
import { poolHealth, switchWords } from './provider-words.ts';

/** One line for each provider; the rest is on its own page. */
export function ProvidersCard({ providers }: { readonly providers: readonly Provider[] }) {
  return (
    <Card title="Providers" actions={<Link href={opsPaths.providers}>Switches and cost</Link>} isFlush>
      <Table
        caption="Providers"
        rows={providers}
        rowKey={({ provider }) => provider}
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
    </Card>
  );
}

type Pools = Provider['pools'];

/** The pools that are worst off, by name; a provider whose pools all take tasks needs none. */
function Health({ provider: { pools, state } }: { readonly provider: Provider }) {
  const bad = pools.filter((pool) => pool.coolingMs !== null);
  if (state !== 'enabled') return <span class="faint">takes no tasks</span>;
  if (bad.length === 0) return <StateDot tone="good">Takes tasks</StateDot>;
  const tone: Tone = bad.length === pools.length ? 'bad' : 'warn';
  const [first] = bad;
  return (
    <StateDot tone={tone}>
      {bad.length === 1 && first !== undefined
        ? poolHealth(first, state).word
        : `${number(bad.length)} of ${number(pools.length)} pools cool`}
    </StateDot>
  );
}

function runningOf(pools: Pools): string {
  const running = sum(pools, ({ occupying }) => occupying);
  if (pools.length === 0) return '–';
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
