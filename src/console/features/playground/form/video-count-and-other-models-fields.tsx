import type { Model } from '../../../api/contract.ts';
import { CheckField, Segmented } from '../../../ui/forms/form-fields.tsx';
import { formatCredits } from '../../../ui/number-formats.tsx';
import { type Draft, type DraftChange, maxVariants, variantCountOrModelsChoices } from '../draft/draft.ts';
import { playgroundText } from '../playground-text.ts';
import { chosenOtherModels, seedField, type PlannedVideo } from './variants.ts';

type FieldsProps = {
  readonly models: readonly Model[];
  readonly model: Model;
  readonly draft: Draft;
  readonly variants: readonly PlannedVideo[];
  readonly onChange: (change: DraftChange) => void;
};

/** The number of videos of one prompt, and the price of each. */
export function VariantFields({ models, model, draft, variants, onChange }: FieldsProps) {
  const choices = variantCountOrModelsChoices.filter((choice) => choice !== 'models' || models.length > 1);
  return (
    <>
      <Segmented
        label={playgroundText.variants}
        value={draft.variants}
        options={choices.map((value) => ({ value, label: playgroundText.variantChoice[value] }))}
        {...(draft.variants !== '1' && { hint: hintOf(draft, model) })}
        onValue={(value) => {
          const next = models.find((one) => one !== model);
          const needsOne =
            value === 'models' && chosenOtherModels(draft, model, models).length === 0 && next !== undefined;
          onChange({ variants: value, ...(needsOne && { otherModels: [next.model] }) });
        }}
      />
      {variants.length > 1 && <PriceRows variants={variants} />}
    </>
  );
}

function hintOf({ variants }: Draft, model: Model): string {
  const { seeds, repeats, models } = playgroundText.variantHint;
  if (variants === 'models') return models;
  return seedField(model) === undefined ? repeats : seeds;
}

type OthersProps = Omit<FieldsProps, 'variants'>;

/** The models whose videos are compared with that of the chosen one. */
export function OtherModels({ models, model, draft, onChange }: OthersProps) {
  const chosen = chosenOtherModels(draft, model, models);
  const isFull = chosen.length >= maxVariants - 1;
  return (
    <fieldset class="field other-models">
      <legend>{playgroundText.compareWith}</legend>
      {models
        .filter((one) => one !== model)
        .map((one) => (
          <CheckField
            key={one.model}
            label={one.title}
            isChecked={chosen.includes(one)}
            onValue={(isChecked) => {
              const others = chosen.filter((other) => other !== one);
              // One more than the limit replaces the last.
              const remaining = isFull ? others.slice(0, maxVariants - 2) : others;
              onChange({ otherModels: (isChecked ? [...remaining, one] : others).map((other) => other.model) });
            }}
          />
        ))}
      {isFull && <p class="under">{playgroundText.atMostModels}</p>}
    </fieldset>
  );
}

function PriceRows({ variants }: { readonly variants: readonly PlannedVideo[] }) {
  return (
    <dl class="variant-prices" aria-label={playgroundText.prices}>
      {variants.map(({ label, price, changes }, index) => (
        // Two videos of a model without a seed differ in nothing else.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={index}>
          <dt>
            {label}
            {changes.length > 0 && <small class="soft"> {changes.join(', ')}</small>}
          </dt>
          <dd class="amount">{price.now === undefined ? playgroundText.noPrice : formatCredits(price.total)}</dd>
        </div>
      ))}
    </dl>
  );
}
