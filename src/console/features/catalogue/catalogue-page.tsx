import type { LoadedCatalogue } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { Badge } from '../../ui/controls/badge-and-state-dot.tsx';
import { Loaded } from '../../ui/feedback/loaded-or-read-error.tsx';
import { creditPriceWords, formatNumber } from '../../ui/number-formats.tsx';
import { Notice } from '../../ui/feedback/notice-and-error-box.tsx';
import { Card, Facts, Page } from '../../ui/page-card-facts-and-tiles.tsx';
import { TableCard } from '../../ui/lists/table-card.tsx';
import { formatDuration, ExactTime, Time, useNow } from '../../ui/times-and-durations.tsx';
import { currentAndAnnouncedAmounts } from '../prices/price-names-and-amounts.tsx';
import { catalogueText } from './catalogue-text.ts';

type Props = { readonly catalogue: LoadedCatalogue };

export function CataloguePage() {
  const catalogue = useRead('/api/admin/v1/catalogue', {}, { everyMs: 10_000 });
  return (
    <Page lead={catalogueText.lead}>
      <Loaded of={catalogue} heights={[140, 320]}>
        {(data) => (
          <>
            <Problems catalogue={data} />
            <Version catalogue={data} />
            <Models catalogue={data} />
            <Providers catalogue={data} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Problems({ catalogue: { refused, workerRefusals } }: Props) {
  return (
    <>
      {refused !== null && (
        <Notice tone="bad" title={catalogueText.refused}>
          <Lines lines={refused.problems} />
          <p class="soft">
            {catalogueText.refusedAt} <Time ms={refused.time} />
          </p>
        </Notice>
      )}
      {workerRefusals.length > 0 && (
        <Notice tone="warn" title={catalogueText.workerRefusals}>
          <Lines lines={workerRefusals} />
        </Notice>
      )}
    </>
  );
}

function Lines({ lines }: { readonly lines: readonly string[] }) {
  return (
    <ul class="stack tight">
      {lines.map((line) => (
        <li key={line}>
          <code>{line}</code>
        </li>
      ))}
    </ul>
  );
}

function Version({ catalogue: { path, version, loadTime } }: Props) {
  return (
    <Card title={catalogueText.version}>
      <Facts
        facts={[
          [catalogueText.file, path === null ? catalogueText.builtIn : <code>{path}</code>],
          [catalogueText.version, <code>{version}</code>],
          [catalogueText.loaded, <ExactTime ms={loadTime} />],
        ]}
      />
    </Card>
  );
}

type Model = LoadedCatalogue['models'][number];

function Models({ catalogue: { models, notSold } }: Props) {
  return (
    <TableCard
      title={catalogueText.models}
      rows={models}
      rowKey={({ model }) => model}
      columns={[
        {
          title: catalogueText.model,
          kind: 'head',
          cell: ({ model, title }) => (
            <>
              <code>{model}</code> {notSold.includes(model) && <Badge tone="warn">{catalogueText.notSold}</Badge>}
              <small class="under">{title}</small>
            </>
          ),
        },
        { title: catalogueText.prices, isWide: true, cell: (model) => <Prices model={model} /> },
        { title: catalogueText.providers, isWide: true, cell: (model) => <Tiers model={model} /> },
        {
          title: catalogueText.deadline,
          kind: 'end',
          isMinor: true,
          cell: ({ deadlineMs }) => formatDuration(deadlineMs),
        },
      ]}
    />
  );
}

/** The amounts in force, and those that begin later. */
function Prices({ model: { prices } }: { readonly model: Model }) {
  const now = useNow(60_000);
  return (
    <ul>
      {prices.map(({ name, amounts }) => {
        const { current, announced } = currentAndAnnouncedAmounts({ rates: amounts }, now);
        return (
          <li key={name}>
            {prices.length > 1 && <code>{name}</code>} {current !== undefined && creditPriceWords(current)}
            {announced.map((later) => (
              <small key={later.fromTime} class="under">
                {creditPriceWords(later)}, {catalogueText.from} <ExactTime ms={later.fromTime} />
              </small>
            ))}
          </li>
        );
      })}
    </ul>
  );
}

function Tiers({ model: { providers } }: { readonly model: Model }) {
  const hasTiers = providers.some(({ tier }) => tier > 1);
  return (
    <ul>
      {providers.map(({ tier, provider, upstreamModel, limit }) => (
        <li key={`${tier} ${provider} ${upstreamModel}`}>
          {hasTiers && catalogueText.tier(tier)} <code>{provider}</code>
          <small class="under">
            {upstreamModel}, {catalogueText.upTo(limit)}
          </small>
        </li>
      ))}
    </ul>
  );
}

function Providers({ catalogue: { providers } }: Props) {
  return (
    <TableCard
      title={catalogueText.providers}
      rows={providers}
      rowKey={({ provider }) => provider}
      columns={[
        { title: catalogueText.provider, kind: 'head', cell: ({ provider }) => <code>{provider}</code> },
        { title: catalogueText.kind, cell: ({ kind }) => kind },
        { title: catalogueText.address, isWide: true, cell: ({ origin }) => origin ?? catalogueText.own },
        { title: catalogueText.models, kind: 'end', cell: ({ models }) => formatNumber(models) },
      ]}
    />
  );
}
