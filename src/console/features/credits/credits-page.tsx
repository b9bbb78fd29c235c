import { queryStringOf } from '../../api/call.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useIsOwner } from '../../api/session.ts';
import { useUrlParameters, useChoiceInUrl, useFilters } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { ReadErrorBox } from '../../ui/feedback/loaded-or-read-error.tsx';
import { formatNumber } from '../../ui/number-formats.tsx';
import { Card, Page, Tiles } from '../../ui/page-card-facts-and-tiles.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { dayMs } from '../../ui/times-and-durations.tsx';
import { TabLinks } from '../../ui/controls/tab-links.tsx';
import { DownloadButton } from '../../ui/controls/download-button.tsx';
import { BuyCreditsButton, useCreditPackages } from '../payments/buy-credits.tsx';
import { CheckoutReturn } from '../payments/checkout-return.tsx';
import { OwnPurchases } from '../payments/purchases.tsx';
import { StatementCard } from '../statements/statement-card.tsx';
import { creditsText } from './credits-text.ts';
import { ChargedByDayChart, utcDayOf } from './day-chart.tsx';
import { Ledger, ledgerFilters } from './ledger.tsx';
import { LowBalanceCard } from './low-balance-threshold.tsx';
import { RedeemCodeButton } from './redeem-button.tsx';
import { SpendCapsCard } from './spend-caps.tsx';
import { useBalance } from './use-balance.ts';
import { useDayRange } from './use-day-range.tsx';

const tabs = ['usage', 'purchases', 'statements'] as const;

export function CreditsPage() {
  const { hrefWith } = useUrlParameters();
  const [tab] = useChoiceInUrl('tab', tabs, 'usage');
  const isOwner = useIsOwner();
  const sells = useCreditPackages()?.provider;
  // An installation that sells nothing has no purchases to list.
  const shown = tabs.filter((one) => one !== 'purchases' || one === tab || typeof sells === 'string');
  return (
    <Page
      lead={creditsText.lead}
      actions={
        <>
          {isOwner && <RedeemCodeButton />}
          <BuyCreditsButton />
        </>
      }
    >
      <CheckoutReturn />
      <TabLinks
        label={creditsText.tabs}
        tabs={shown.map((value) => ({
          label: creditsText.tabNames[value],
          href: hrefWith({ ...noFilters, tab: value === 'usage' ? undefined : value }),
          isCurrent: value === tab,
        }))}
      />
      {tab === 'usage' && <UsageTab isOwner={isOwner} />}
      {tab === 'purchases' && <OwnPurchases />}
      {tab === 'statements' && <StatementCard />}
    </Page>
  );
}

/** They narrow what one of the tabs shows. */
const noFilters = { days: undefined, kind: undefined, taskId: undefined, month: undefined };

function UsageTab({ isOwner }: { readonly isOwner: boolean }) {
  const { days, fromMs, today, select } = useDayRange();
  return (
    <>
      <div class="row filters">{select}</div>
      <Usage days={days} fromMs={fromMs} toMs={today} />
      {isOwner && <SpendCapsCard />}
      {isOwner && <LowBalanceCard />}
      <Card title={creditsText.ledger} actions={<SaveButton fromMs={fromMs} />} isFlush>
        <Ledger fromMs={fromMs} />
      </Card>
    </>
  );
}

/** Sums are read seldom, because they add up many entries; the balance and the ledger are polled. */
const sumsMs = 60_000;

type UsageProps = { readonly days: string; readonly fromMs: number; readonly toMs: number };

function Usage({ days, fromMs, toMs }: UsageProps) {
  const query = { from: utcDayOf(fromMs), to: utcDayOf(toMs) };
  const daily = useRead('/api/v1/credits/daily', query, { keeps: true, everyMs: sumsMs });
  const { data } = daily;
  const balance = useBalance();
  if (data === undefined && daily.error !== null) return <ReadErrorBox of={daily} />;
  const total = (of: 'charged' | 'refunded' | 'granted') =>
    figureOrSkeleton(data?.days.reduce((sum, one) => sum + one[of], 0));
  return (
    <>
      <Tiles
        tiles={[
          { label: creditsText.balance, value: figureOrSkeleton(balance), note: creditsText.credits },
          { label: creditsText.charged, value: total('charged'), note: creditsText.inDays(days) },
          { label: creditsText.refunded, value: total('refunded'), note: creditsText.forTasksWithoutVideo },
          { label: creditsText.granted, value: total('granted'), note: creditsText.netOfReturns },
        ]}
      />
      {data !== undefined && <ChargedByDayChart days={data.days} fromMs={fromMs} count={(toMs - fromMs) / dayMs + 1} />}
    </>
  );
}

/** A figure of a tile, the room for it, or null for one that cannot be read. */
export function figureOrSkeleton(value: number | null | undefined) {
  if (value === null) return '–';
  return value === undefined ? <Skeleton width="60%" height="26px" /> : formatNumber(value);
}

/** The entries that the ledger shows, as a file. */
function SaveButton({ fromMs }: { readonly fromMs: number }) {
  const { query } = useFilters(ledgerFilters);
  const address = `/api/v1/credits/export${queryStringOf({ from: fromMs, ...query })}`;
  return <DownloadButton address={address} name="ledger.csv" label={creditsText.csv} />;
}
