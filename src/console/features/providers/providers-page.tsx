import type { Provider } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { Empty } from '../../ui/feedback/empty.tsx';
import { Server } from '../../ui/controls/icons.ts';
import { Loaded } from '../../ui/feedback/loaded-or-read-error.tsx';
import { formatNumber } from '../../ui/number-formats.tsx';
import { Card, Page } from '../../ui/page-card-facts-and-tiles.tsx';
import { Table } from '../../ui/lists/table.tsx';
import { formatDuration, Time } from '../../ui/times-and-durations.tsx';
import { WordWithDot } from '../../ui/controls/badge-and-state-dot.tsx';
import { MarginCard } from '../margin/margin-card.tsx';
import { TestProviderConnectionButton } from './test-provider-connection-button.tsx';
import { SetProviderStateButton } from './set-provider-state.tsx';
import {
  wordAndToneOfPoolHealth,
  providersText,
  describeProviderState,
  runningOfLimitWords,
} from './providers-text.ts';

export function ProvidersPage() {
  const providers = useRead('/api/admin/v1/providers', {}, { everyMs: 5000 });
  return (
    <Page lead={providersText.lead}>
      <Loaded of={providers} heights={[180]}>
        {(data) => data.providers.map((provider) => <ProviderCard key={provider.provider} provider={provider} />)}
      </Loaded>
      {providers.data?.providers.length === 0 && (
        <Empty icon={Server} title={providersText.empty} text={providersText.emptyAdvice} />
      )}
      <MarginCard />
    </Page>
  );
}

type ProviderProps = { readonly provider: Provider };

function ProviderCard({ provider }: ProviderProps) {
  const actions = (
    <>
      <WordWithDot of={describeProviderState(provider.state)} />
      {provider.kind !== null && <TestProviderConnectionButton provider={provider.provider} />}
      <SetProviderStateButton provider={provider} />
    </>
  );
  return (
    <Card title={provider.provider} actions={actions} isFlush>
      <p class="card-note">
        {originOf(provider)} <SwitchedBy provider={provider} />
      </p>
      {provider.pools.length > 0 && (
        <Table
          caption={providersText.pools(provider.provider)}
          rows={provider.pools}
          rowKey={({ pool }) => pool}
          columns={[
            { title: providersText.pool, kind: 'head', cell: ({ pool }) => <code>{pool}</code> },
            {
              title: providersText.health,
              cell: (pool) => <WordWithDot of={wordAndToneOfPoolHealth(pool, provider.state)} />,
            },
            {
              title: providersText.running,
              kind: 'end',
              cell: ({ occupying, limit }) => runningOfLimitWords(occupying, limit, provider),
            },
            { title: providersText.waiting, kind: 'end', cell: ({ waiting }) => formatNumber(waiting) },
            { title: providersText.longestWait, kind: 'end', cell: ({ oldestWaitMs }) => formatDuration(oldestWaitMs) },
            {
              title: providersText.failures,
              kind: 'end',
              cell: ({ consecutiveFailures }) => formatNumber(consecutiveFailures),
            },
          ]}
        />
      )}
    </Card>
  );
}

function originOf({ kind, origin }: Provider): string {
  if (kind === null) return providersText.notInCatalogue;
  return origin === null ? providersText.onOurWorkers : providersText.kindAt(kind, origin);
}

function SwitchedBy({ provider: { who, reason, changeTime } }: ProviderProps) {
  if (who === null || changeTime === null) return null;
  return (
    <>
      {providersText.switchedBy} <bdi>{who}</bdi> <Time ms={changeTime} />
      {reason !== null && (
        <>
          : “<bdi>{reason}</bdi>”
        </>
      )}
      .
    </>
  );
}
