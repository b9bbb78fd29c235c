import { Link } from 'wouter-preact';
import type { Model } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useAccount } from '../../api/session.ts';
import { accountPaths } from '../../paths.ts';
import { Empty } from '../../ui/feedback/empty.tsx';
import { Layers } from '../../ui/controls/icons.ts';
import { Loaded } from '../../ui/feedback/loaded-or-read-error.tsx';
import { creditPriceWords } from '../../ui/number-formats.tsx';
import { Page } from '../../ui/page-card-facts-and-tiles.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { useNow } from '../../ui/times-and-durations.tsx';
import { currentAndAnnouncedAmounts } from '../prices/price-names-and-amounts.tsx';
import { ModelSample } from './sample-video.tsx';
import { modelsText } from './models-text.ts';
import './models.css';

/** The pace at which models that workers report, and announced prices, appear. */
export const modelsPollMs = 15_000;

/** All models of the service as cards. */
export function ModelsPage() {
  const models = useRead('/api/v1/models', {}, { everyMs: modelsPollMs });
  return (
    <Page lead={modelsText.lead}>
      <Loaded of={models} waiting={<WaitingCards />}>
        {(data) =>
          data.models.length === 0 ? (
            <Empty icon={Layers} title={modelsText.none} text={modelsText.noneAdvice} />
          ) : (
            <ul class="model-cards">
              {data.models.map((model) => (
                <ModelCard key={model.model} model={model} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  );
}

function WaitingCards() {
  return (
    <div class="model-cards" aria-busy="true">
      {[0, 1, 2].map((one) => (
        <Skeleton key={one} height="300px" />
      ))}
    </div>
  );
}

function ModelCard({ model }: { readonly model: Model }) {
  const { accountId } = useAccount();
  const now = useNow(modelsPollMs);
  const price = leastPrice(model, now);
  return (
    <li
      class="card model-card linked"
      // The video is decoration here; its page has one with controls.
      onPointerEnter={({ currentTarget }) =>
        void currentTarget
          .querySelector('video')
          ?.play()
          .catch(() => undefined)
      }
      onPointerLeave={({ currentTarget }) => currentTarget.querySelector('video')?.pause()}
    >
      <ModelSample model={model} />
      <div class="body">
        <h2>
          <Link href={accountPaths.model(accountId, model.model)} class="row-link">
            {model.title}
          </Link>
        </h2>
        <code>{model.model}</code>
        {model.description !== null && <p class="soft">{model.description}</p>}
        {price !== undefined && (
          <p class="price">
            {model.prices.length > 1 && `${modelsText.from} `}
            {creditPriceWords(price)}
          </p>
        )}
      </div>
    </li>
  );
}

/** The cheapest second; of a model without prices per second, the cheapest video. */
function leastPrice({ prices }: Model, nowMs: number) {
  const current = prices.flatMap((price) => currentAndAnnouncedAmounts(price, nowMs).current ?? []);
  return current.toSorted(
    (a, b) => a.creditsPerSecond - b.creditsPerSecond || a.creditsPerVideo - b.creditsPerVideo,
  )[0];
}
