import type { Model } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useAccount } from '../../api/session.ts';
import { accountPages } from '../../pages.ts';
import { accountPaths } from '../../paths.ts';
import { LinkButton } from '../../ui/controls/button.tsx';
import { CodeBlock } from '../../ui/controls/code-block.tsx';
import { CopyId } from '../../ui/controls/copy-button.tsx';
import { type BackLinkTarget, DetailPage } from '../../ui/lists/detail-page.tsx';
import { Clapperboard, Layers } from '../../ui/controls/icons.ts';
import { creditPriceWords } from '../../ui/number-formats.tsx';
import { Card, type LabelAndValue, Facts, Page } from '../../ui/page-card-facts-and-tiles.tsx';
import { Table } from '../../ui/lists/table.tsx';
import { ExactTime, useNow } from '../../ui/times-and-durations.tsx';
import { requestSamples } from '../playground/request-samples.ts';
import { currentAndAnnouncedAmounts, conditionWords } from '../prices/price-names-and-amounts.tsx';
import { describeInputFields } from './model-input-words.ts';
import { ModelSample } from './sample-video.tsx';
import { modelsPollMs } from './models-page.tsx';
import { modelsText } from './models-text.ts';
import './models.css';

/** One model. `id` is the part of the address, whose special characters may be escaped. */
export function ModelPage({ id }: { readonly id: string }) {
  const { accountId } = useAccount();
  const models = useRead('/api/v1/models', {}, { everyMs: modelsPollMs });
  const back = { href: accountPaths.models(accountId), label: accountPages.models.title };
  const model = models.data?.models.find((one) => one.model === id || encodeURIComponent(one.model) === id);
  return (
    <DetailPage
      of={{ ...models, data: model }}
      isUnknown={models.data !== undefined && model === undefined}
      title={modelsText.model}
      back={back}
      unknown={{
        icon: Layers,
        title: modelsText.notFoundTitle,
        text: modelsText.notFound,
        seeAll: modelsText.seeAll,
      }}
    >
      {(found) => <ModelContent model={found} back={back} />}
    </DetailPage>
  );
}

type ContentProps = { readonly model: Model; readonly back: BackLinkTarget };

function ModelContent({ model, back }: ContentProps) {
  const { accountId } = useAccount();
  return (
    <Page
      title={model.title}
      lead={<CopyId id={model.model} label={modelsText.copyName} />}
      back={back}
      actions={
        <LinkButton href={accountPaths.playgroundOf(accountId, model.model)} variant="primary">
          <Clapperboard size={16} aria-hidden="true" /> {modelsText.tryIt}
        </LinkButton>
      }
    >
      {model.description !== null && <p class="model-description">{model.description}</p>}
      <div class="columns wide-left">
        <div class="stack">
          {model.sample !== null && (
            <section class="stack tight" aria-label={modelsText.sample}>
              <ModelSample model={model} hasControls />
              {model.sample.isPreview && <p class="soft">{modelsText.madeByPreview}</p>}
            </section>
          )}
          <Card title={modelsText.request} isFlush>
            <CodeBlock samples={requestSamples(model.sampleRequest)} />
          </Card>
        </div>
        <div class="stack">
          <Prices model={model} />
          <Limits model={model} />
        </div>
      </div>
    </Page>
  );
}

function Prices({ model: { title, prices } }: { readonly model: Model }) {
  const now = useNow(modelsPollMs);
  const isAnnounced = prices.some((price) => currentAndAnnouncedAmounts(price, now).announced.length > 0);
  return (
    <Card title={modelsText.prices} isFlush>
      <Table
        caption={modelsText.pricesCaption(title)}
        rows={prices}
        rowKey={({ name }) => name}
        columns={[
          {
            title: modelsText.appliesTo,
            kind: 'head',
            cell: ({ when }) => <span class="words">{conditionWords(when, prices.length === 1)}</span>,
          },
          {
            title: modelsText.now,
            kind: 'end',
            cell: (price) => {
              const { current } = currentAndAnnouncedAmounts(price, now);
              return current === undefined ? <span class="faint">{modelsText.notYet}</span> : creditPriceWords(current);
            },
          },
          ...(isAnnounced
            ? [
                {
                  title: modelsText.announced,
                  kind: 'end' as const,
                  cell: (price: Price) => <Announced price={price} now={now} />,
                },
              ]
            : []),
        ]}
      />
      {prices.length > 1 && <p class="card-note">{modelsText.priceNote}</p>}
    </Card>
  );
}

type Price = Model['prices'][number];

function Announced({ price, now }: { readonly price: Price; readonly now: number }) {
  return (
    <>
      {currentAndAnnouncedAmounts(price, now).announced.map((amounts) => (
        <div key={amounts.fromTime}>
          {creditPriceWords(amounts)}
          <small class="under">
            {modelsText.fromTime} <ExactTime ms={amounts.fromTime} />
          </small>
        </div>
      ))}
    </>
  );
}

function Limits({ model }: { readonly model: Model }) {
  const facts = describeInputFields(model).map(({ name, value, hint }): LabelAndValue => [
    name,
    <>
      {value}
      {hint !== undefined && <small class="under">{hint}</small>}
    </>,
  ]);
  const lastFrame: LabelAndValue = [modelsText.lastFrame, modelsText.lastFrameStored];
  return (
    <Card title={modelsText.limits}>
      <Facts facts={model.lastFrame ? [...facts, lastFrame] : facts} />
    </Card>
  );
}
