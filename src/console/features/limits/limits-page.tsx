import type { ComponentChildren } from 'preact';
import type { Answer } from '../../api/call.ts';
import { brand } from '../../api/page-brand.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useAccount } from '../../api/session.ts';
import { formatBytes, formatNumber } from '../../ui/number-formats.tsx';
import { Card, Facts, Page } from '../../ui/page-card-facts-and-tiles.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Time } from '../../ui/times-and-durations.tsx';
import { Loaded } from '../../ui/feedback/loaded-or-read-error.tsx';
import { LimitMeter } from '../../ui/charts/meter.tsx';
import { limitsText as text } from './limits-text.ts';
import './limits.css';

type Limits = Answer<'/api/v1/limits'>;

/** Every limit that may refuse a request of the account, and the rest of it. */
export function LimitsPage() {
  const { name } = useAccount();
  const limits = useRead('/api/v1/limits', {}, { everyMs: 10_000 });
  return (
    <Page lead={text.lead(name)}>
      <Loaded of={limits} waiting={<Loading />}>
        {(data) => (
          <>
            <Card title={text.card} isFlush>
              <Rows limits={data} />
            </Card>
            <Retention retention={data.retention} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Loading() {
  return (
    <Card title={text.card} isFlush>
      <div class="body stack" aria-busy="true">
        {[0, 1, 2, 3, 4, 5].map((row) => (
          <Skeleton key={row} height="40px" />
        ))}
      </div>
    </Card>
  );
}

function Rows({ limits }: { readonly limits: Limits }) {
  const { unfinishedTasks, creates, reads, spendCaps, uploads, uploadedBytes, activeKeys } = limits;
  return (
    <>
      <ul class="limits">
        <Usage name={text.unfinished} help={text.unfinishedHelp} {...unfinishedTasks} />
        <Rate name={text.creates} rate={creates} />
        <Rate name={text.reads} help={text.readsHelp} rate={reads} />
        {spendCaps.length === 0 && <Row name={text.noCaps} help={text.noCapsHelp} figure={text.unlimited} />}
        {spendCaps.map(({ period, cap, spent, resetTime }) => (
          <Usage
            key={period}
            name={text.caps[period] ?? period}
            used={spent}
            limit={cap}
            note={
              resetTime !== null && (
                <>
                  {text.resets} <Time ms={resetTime} />
                </>
              )
            }
          />
        ))}
        <Usage name={text.uploads} {...uploads} />
        <Usage name={text.uploadedBytes} {...uploadedBytes} shown={formatBytes} />
        <Usage name={text.keys} {...activeKeys} />
      </ul>
      <p class="card-note">{brand.support === undefined ? text.more : <a href={brand.support}>{text.support}</a>}</p>
    </>
  );
}

type Named = { readonly name: string; readonly help?: string };

type UsageProps = Named & {
  readonly used: number;
  readonly limit: number;
  readonly shown?: (value: number) => string;
  readonly note?: ComponentChildren;
};

function Usage({ used, limit, shown = formatNumber, ...rest }: UsageProps) {
  return <Row {...rest} figure={text.usedOf(shown(used), shown(limit))} used={used} limit={limit} />;
}

function Rate({ rate, ...named }: Named & { readonly rate: Limits['creates'] }) {
  if (rate === null) return <Row {...named} figure={text.unlimited} />;
  const { quota, windowSeconds, remaining } = rate;
  return (
    <Row
      {...named}
      figure={text.rate(quota, windowSeconds)}
      note={text.remaining(remaining)}
      used={quota - remaining}
      limit={quota}
    />
  );
}

type RowProps = Named & {
  readonly figure: string;
  readonly note?: ComponentChildren;
  /** Undefined without a limit. */
  readonly used?: number;
  readonly limit?: number;
};

function Row({ name, help, figure, note, used, limit = 0 }: RowProps) {
  return (
    <li>
      <span class="name">
        {name}
        {help !== undefined && <small class="under">{help}</small>}
      </span>
      {used === undefined ? <span class="no-meter" /> : <LimitMeter used={used} limit={limit} />}
      <span class="figure">
        {figure}
        {note !== undefined && note !== false && <small class="under">{note}</small>}
      </span>
    </li>
  );
}

function Retention({ retention: { mediaDays, promptDays } }: Pick<Limits, 'retention'>) {
  const { title, media, prompts, records, days, noLimit, stored } = text.retention;
  return (
    <Card title={title}>
      <Facts
        facts={[
          [media, days(mediaDays)],
          [prompts, promptDays === null ? noLimit : days(promptDays)],
          [records, stored],
        ]}
      />
    </Card>
  );
}
