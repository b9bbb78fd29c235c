import { z } from 'zod';
import type { DeepReadonly } from '../core/endpoint-spec.ts';
import type { PresentedPrices } from '../credits/price-view.ts';
import type { Model } from '../../catalogue/models/model-type-and-name-lookup.ts';
import { standardPriceName } from '../../catalogue/prices/model-prices.ts';
import { inputJsonSchema } from '../../tasks/accept/documented-task-request.ts';
import { isObject } from '../../platform/text/json.ts';
import { boundsText, type JsonSchema } from './simplify-json-schema.ts';

// An agent reads these words about each model: its purpose, its prices and the fields that it takes.

export const modelSummarySchema = z.strictObject({
  model: z.string(),
  title: z.string(),
  about: z.string(),
  costs: z.string(),
  takes: z.array(z.string()),
});
type ModelWords = DeepReadonly<z.output<typeof modelSummarySchema>>;

const notAModel = 'It is not an AI model: it draws the prompt on a landscape, to try out the API.';

export function summarizeModel(model: Model, prices: PresentedPrices, now: number): ModelWords {
  const isPreview = model.providers.length > 0 && model.providers.every((name) => name === 'preview');
  const { description = '' } = model;
  const preview = isPreview && !/not an AI model/i.test(description) ? notAModel : '';
  return {
    model: model.model,
    title: model.title,
    about: [description, preview].filter(Boolean).join(' '),
    costs: prices.map((price) => costWords(price, now)).join('; '),
    takes: takenWords(model),
  };
}

export function modelSummaryText({ model, title, about, costs, takes }: ModelWords): string {
  const head = about === '' ? `${model}: ${title}.` : `${model}: ${title}. ${about}`;
  return [head, `  Costs ${costs}.`, `  Takes ${takes.join('; ')}.`].join('\n');
}

function costWords({ name, when, rates }: PresentedPrices[number], now: number): string {
  const rate = rates.findLast(({ fromTime }) => fromTime <= now);
  if (rate === undefined) return `${name}: nothing yet`;
  const { creditsPerSecond: second, creditsPerVideo: video } = rate;
  const amounts = [second > 0 ? `${second} credits per second` : '', video > 0 ? `${video} credits per video` : ''];
  const amount = amounts.filter(Boolean).join(' and ');
  const conditions = conditionWords(when);
  if (conditions !== '') return `${amount} with ${conditions}`;
  return name === standardPriceName ? amount : `${amount} otherwise`;
}

function conditionWords(when: PresentedPrices[number]['when']): string {
  const { options = {}, ...others } = when;
  const words = Object.entries({ ...others, ...options }).map(([name, value]) => {
    if (value === 'present' || value === 'absent') return value === 'present' ? name : `no ${name}`;
    return `${name} ${String(value)}`;
  });
  return words.join(' and ');
}

function takenWords({ input }: Model): readonly string[] {
  const { properties, required } = inputJsonSchema(input) as {
    readonly properties: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  const fields = Object.entries(properties).filter(([, field]) => field['maxItems'] !== 0);
  const words = fields.flatMap(([name, field]) =>
    name === 'options' && isObject(field['properties'])
      ? Object.entries(field['properties']).map(([option, one]) =>
          fieldWords(`options.${option}`, isObject(one) ? one : {}),
        )
      : fieldWords(name, field) + (required?.includes(name) === true ? ' (required)' : ''),
  );
  const together = input.exclusive.map((names) => `at most one of ${names.join(', ')}`);
  return [...words, ...together];
}

/** `duration: 4 to 15, default 5` */
function fieldWords(name: string, field: JsonSchema): string {
  const choices = Array.isArray(field['enum']) ? field['enum'].map(String).join(', ') : '';
  const constant = field['const'] === undefined ? '' : `always ${JSON.stringify(field['const'])}`;
  const bounds = boundsText(field, String(field['type'])).replace(/\.$/, '').toLowerCase();
  const standard = field['default'];
  const values = [
    constant || choices || bounds,
    standard === undefined ? '' : `default ${typeof standard === 'string' ? standard : JSON.stringify(standard)}`,
  ];
  const text = values.filter(Boolean).join(', ');
  return text === '' ? name : `${name}: ${text}`;
}
