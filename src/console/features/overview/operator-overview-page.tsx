import { Link } from 'wouter-preact';
import type { InstallationOverview } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { operatorPaths } from '../../paths.ts';
import { formatCredits, formatNumber } from '../../ui/number-formats.tsx';
import { Notice } from '../../ui/feedback/notice-and-error-box.tsx';
import { Card, Facts, Page, Tiles } from '../../ui/page-card-facts-and-tiles.tsx';
import { formatDuration } from '../../ui/times-and-durations.tsx';
import { Loaded } from '../../ui/feedback/loaded-or-read-error.tsx';
import { AnnounceButton } from '../announcement/announce-button.tsx';
import { percent } from '../trends/percent.ts';
import { TrendsSection } from '../trends/trends-section.tsx';
import { FailuresByCodeCard, LedgerAuditCard } from './failures-and-ledger-audit-cards.tsx';
import { operatorOverviewText } from './overview-text.ts';
import { ProvidersCard } from './providers-card.tsx';

/** The state of the whole service, for operators. */
export function OperatorOverviewPage() {
  const overview = useRead('/api/admin/v1/overview', {}, { everyMs: 5000 });
  return (
    <Page lead={operatorOverviewText.lead} actions={<AnnounceButton />}>
      <Loaded of={overview} heights={[103, 257]}>
        {(data) => <Figures overview={data} />}
      </Loaded>
      <TrendsSection />
    </Page>
  );
}

type FiguresProps = { readonly overview: InstallationOverview };

function Figures({ overview }: FiguresProps) {
  const { stuckTasks, lastDay, books, providers } = overview;
  return (
    <>
      {stuckTasks > 0 && (
        <Notice
          tone="bad"
          title={operatorOverviewText.stuck(stuckTasks)}
          isAlert
          text={operatorOverviewText.stuckText}
        />
      )}
      <StateTiles overview={overview} />
      <div class="columns">
        <LastDay lastDay={lastDay} />
        <div class="stack">
          <FailuresByCodeCard failed={lastDay.failed} />
          <LedgerAuditCard books={books} />
        </div>
      </div>
      <ProvidersCard providers={providers} />
    </>
  );
}

function StateTiles({ overview: { unfinished, callbacks } }: FiguresProps) {
  const states = ['waiting', 'queuing', 'generating'] as const;
  return (
    <Tiles
      tiles={[
        ...states.map((state) => ({ label: operatorOverviewText[state], ...stateTile(unfinished, state) })),
        {
          label: operatorOverviewText.pendingCallbacks,
          value: formatNumber(callbacks.pending),
          note:
            callbacks.overdue === 0
              ? operatorOverviewText.noneOverdue
              : operatorOverviewText.overdue(callbacks.overdue),
        },
        {
          label: operatorOverviewText.failedCallbacks,
          value: formatNumber(callbacks.undelivered),
          note: <Link href={operatorPaths.callbacks}>{operatorOverviewText.lastDayAll}</Link>,
        },
      ]}
    />
  );
}

type Unfinished = InstallationOverview['unfinished'];

/** The tasks of all models in a state. */
function stateTile(unfinished: Unfinished, state: Unfinished[number]['state']) {
  const those = unfinished.filter((one) => one.state === state);
  const oldestMs = Math.max(0, ...those.map((one) => one.oldestMs));
  const count = those.reduce((sum, { tasks }) => sum + tasks, 0);
  const age = operatorOverviewText.oldest(formatDuration(Math.max(1000, Math.floor(oldestMs / 1000) * 1000)));
  return {
    value: formatNumber(count),
    note: count === 0 ? operatorOverviewText.none : <Link href={`${operatorPaths.tasks}?state=${state}`}>{age}</Link>,
  };
}

function LastDay({ lastDay }: { readonly lastDay: InstallationOverview['lastDay'] }) {
  const failed = lastDay.failed.reduce((sum, { tasks }) => sum + tasks, 0);
  const ended = failed + lastDay.succeeded;
  const share = ended === 0 ? '' : ` (${percent(failed / ended)})`;
  return (
    <Card title={operatorOverviewText.lastDay}>
      <Facts
        facts={[
          [operatorOverviewText.created, formatNumber(lastDay.created)],
          [operatorOverviewText.succeeded, formatNumber(lastDay.succeeded)],
          [operatorOverviewText.failed, `${formatNumber(failed)}${share}`],
          [operatorOverviewText.cancelled, formatNumber(lastDay.cancelled)],
          [operatorOverviewText.rejected, formatNumber(lastDay.rejected)],
          [operatorOverviewText.charged, formatCredits(lastDay.charged)],
          [operatorOverviewText.refunded, formatCredits(lastDay.refunded)],
        ]}
      />
    </Card>
  );
}
