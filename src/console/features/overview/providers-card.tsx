import { Link } from 'wouter-preact';
import type { Provider } from '../../api/contract.ts';
import { operatorPages } from '../../pages.ts';
import { operatorPaths } from '../../paths.ts';
import { StateWithDot, WordWithDot } from '../../ui/controls/badge-and-state-dot.tsx';
import { formatNumber } from '../../ui/number-formats.tsx';
import { TableCard } from '../../ui/lists/table-card.tsx';
import { formatDuration } from '../../ui/times-and-durations.tsx';
import { runningOfLimitWords } from '../providers/providers-text.ts';
import {
  healthyPoolWordAndTone,
  wordAndToneOfPoolHealth,
  providersText,
  describeProviderState,
} from '../providers/providers-text.ts';

/** One row per provider; its page has the rest. */
export function ProvidersCard({ providers }: { readonly providers: readonly Provider[] }) {
  const all = <Link href={operatorPaths.providers}>{providersText.seeAll}</Link>;
  return (
    <TableCard
      title={operatorPages.providers.title}
      actions={all}
      rows={providers}
      rowKey={({ provider }) => provider}
      columns={[
        { title: providersText.provider, kind: 'head', cell: ({ provider }) => <code>{provider}</code> },
        { title: providersText.switchState, cell: ({ state }) => <WordWithDot of={describeProviderState(state)} /> },
        { title: providersText.health, cell: (provider) => <Health provider={provider} /> },
        {
          title: providersText.running,
          kind: 'end',
          cell: (provider) =>
            runningOfLimitWords(
              sum(provider, 'occupying'),
              isLimited(provider) ? sum(provider, 'limit') : null,
              provider,
            ),
        },
        { title: providersText.waiting, kind: 'end', cell: (provider) => formatNumber(sum(provider, 'waiting')) },
        { title: providersText.longestWait, kind: 'end', cell: longestWait },
      ]}
    />
  );
}

/** The worst health of its pools. */
function Health({ provider: { pools, state } }: { readonly provider: Provider }) {
  const cooling = pools.filter((pool) => pool.coolingMs !== null);
  if (state !== 'enabled') return <span class="faint">{providersText.takesNone}</span>;
  if (cooling.length > 1) {
    const tone = cooling.length === pools.length ? 'bad' : 'warn';
    return <StateWithDot tone={tone}>{providersText.manyCooling(cooling.length, pools.length)}</StateWithDot>;
  }
  // A provider without a pool has not had a task yet.
  const [first] = cooling.length > 0 ? cooling : pools;
  return <WordWithDot of={first === undefined ? healthyPoolWordAndTone : wordAndToneOfPoolHealth(first, state)} />;
}

function isLimited({ pools }: Provider): boolean {
  return pools.length > 0 && pools.every(({ limit }) => limit !== null);
}

function longestWait({ pools }: Provider): string {
  const longest = Math.max(0, ...pools.map(({ oldestWaitMs }) => oldestWaitMs ?? 0));
  return longest === 0 ? '–' : formatDuration(longest);
}

function sum({ pools }: Provider, figure: 'occupying' | 'limit' | 'waiting'): number {
  return pools.reduce((total, pool) => total + (pool[figure] ?? 0), 0);
}
