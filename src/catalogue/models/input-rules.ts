import { z } from 'zod';
import type { FieldError } from '../../platform/text/field-errors.ts';
import type { FrameSize } from '../media/frame-size.ts';
import { isPresent, type ModelInput, standardModelInput, type TaskInput } from '../input/task-input.ts';
import { allowedValuesText } from '../input/url-schema-and-text-checks.ts';
import { textCommandRefusal } from './text-commands.ts';
import {
  durationsOf,
  inputLimits,
  type Ratio,
  ratios,
  type Resolution,
  resolutions,
} from '../input/resolutions-ratios-and-field-bounds.ts';

// Limits of a model, a provider or an entry of a tier. Rules narrow the bounds of a create request and never widen them.

const { maxPromptLength, maxImages } = inputLimits;

const seconds = z.int().min(1).max(3600);
const pixels = z.int().min(1).max(100_000);
const aspect = z.number().min(0.001).max(1000);
const someRatios = z.array(z.enum(ratios)).min(1).max(20);

export const rulesSchema = z
  .strictObject({
    durations: z
      .union([z.array(seconds).min(1).max(100), z.strictObject({ min: seconds.optional(), max: seconds.optional() })], {
        error: 'must be a list of whole seconds, such as [5, 10], or { min, max }',
      })
      .optional(),
    resolutions: z.array(z.enum(resolutions)).min(1).max(resolutions.length).optional(),
    ratios: someRatios.optional(),
    ratiosWithImages: someRatios.optional().meta({ description: 'Ratios that it takes together with images.' }),
    images: z
      .strictObject({
        min: z.int().min(0).max(maxImages).optional(),
        max: z.int().min(0).max(maxImages).optional(),
        minPx: pixels.optional().meta({ description: 'The least size of the shorter side.' }),
        maxPx: pixels.optional().meta({ description: 'The largest size of the longer side.' }),
        minAspect: aspect.optional().meta({ description: 'Width over height.' }),
        maxAspect: aspect.optional(),
      })
      .optional(),
    framesWithReferences: z.boolean().optional().meta({
      description: 'False where a first or last frame excludes reference images, videos and audio.',
    }),
    lastFrameAlone: z.boolean().optional().meta({ description: 'False where a last frame needs a first one.' }),
    maxPromptCharacters: z.int().min(1).max(maxPromptLength).optional(),
    maxNegativePromptCharacters: z.int().min(1).max(maxPromptLength).optional(),
    textCommands: z.boolean().optional().meta({
      description:
        'True if it reads commands such as `--dur 12` in the prompt, as Seedance does. Prompts with them are refused.',
    }),
    audio: z.enum(['optional', 'always', 'never']).optional().meta({
      description:
        'Whether its videos have sound. `never` refuses tasks with sound; the sound of `always` is removed for tasks without.',
    }),
  })
  .meta({ id: 'Rules' });

export type Rules = z.output<typeof rulesSchema>;

/** The limits of a vendor's models in a file of the kind `http`. */
export const providerFileRulesSchema = z.array(
  rulesSchema.extend({
    models: z
      .array(z.string().min(1).max(180))
      .min(1)
      .max(50)
      .optional()
      .meta({ description: "The upstream's names of the models; ABC* for all that begin so. All models without it." }),
  }),
);

type ModelRules = z.output<typeof providerFileRulesSchema>;

export function rulesForUpstreamModel(all: ModelRules, upstreamModel: string): readonly Rules[] {
  const isMeant = (name: string) =>
    name.endsWith('*') ? upstreamModel.startsWith(name.slice(0, -1)) : upstreamModel === name;
  return all.filter(({ models }) => models === undefined || models.some(isMeant));
}

/** Every rule with a value: what an entry takes after all rules above it. Plain JSON. */
export type InputRules = {
  readonly resolutions: readonly Resolution[];
  readonly durations: readonly number[];
  readonly ratios: readonly Ratio[];
  readonly ratiosWithImages: readonly Ratio[];
  readonly images: Readonly<Record<'min' | 'max' | 'minPx' | 'maxPx' | 'minAspect' | 'maxAspect', number>>;
  readonly framesWithReferences: boolean;
  readonly lastFrameAlone: boolean;
  readonly maxPromptCharacters: number;
  /** Absent in rules that an earlier release has stored. */
  readonly maxNegativePromptCharacters?: number;
  readonly textCommands: boolean;
  readonly audio: 'optional' | 'always' | 'never';
};

function rulesOfInput({ fields }: ModelInput): InputRules {
  const { min = 0, max } = fields.imageUrls;
  return {
    resolutions: fields.resolution.values,
    durations: durationsOf(fields.duration),
    ratios: fields.ratio.values,
    ratiosWithImages: fields.ratio.values,
    images: { min, max, minPx: 1, maxPx: 100_000, minAspect: 0.001, maxAspect: 1000 },
    framesWithReferences: true,
    lastFrameAlone: true,
    maxPromptCharacters: fields.prompt.maxCharacters,
    maxNegativePromptCharacters: fields.negativePrompt?.maxCharacters ?? maxPromptLength,
    textCommands: false,
    audio: 'optional',
  };
}

/**
 * Combines the rules, from the model's input to the most specific ones. Each narrows those before it, except that the last `audio` replaces
 * the earlier ones.
 */
export function effectiveRules(all: readonly (Rules | undefined)[], input = standardModelInput): InputRules {
  return all.reduce<InputRules>(
    (before, by) => (by === undefined ? before : narrowed(before, by)),
    rulesOfInput(input),
  );
}

function narrowed(before: InputRules, by: Rules): InputRules {
  const { images = {} } = by;
  return {
    resolutions: before.resolutions.filter((value) => by.resolutions?.includes(value) ?? true),
    durations: before.durations.filter((value) => takesDuration(by.durations, value)),
    ratios: before.ratios.filter((ratio) => by.ratios?.includes(ratio) ?? true),
    ratiosWithImages: before.ratiosWithImages.filter(
      (ratio) => (by.ratios?.includes(ratio) ?? true) && (by.ratiosWithImages?.includes(ratio) ?? true),
    ),
    images: {
      min: Math.max(before.images.min, images.min ?? 0),
      max: Math.min(before.images.max, images.max ?? maxImages),
      minPx: Math.max(before.images.minPx, images.minPx ?? 0),
      maxPx: Math.min(before.images.maxPx, images.maxPx ?? Infinity),
      minAspect: Math.max(before.images.minAspect, images.minAspect ?? 0),
      maxAspect: Math.min(before.images.maxAspect, images.maxAspect ?? Infinity),
    },
    framesWithReferences: before.framesWithReferences && by.framesWithReferences !== false,
    lastFrameAlone: before.lastFrameAlone && by.lastFrameAlone !== false,
    maxPromptCharacters: Math.min(before.maxPromptCharacters, by.maxPromptCharacters ?? Infinity),
    maxNegativePromptCharacters: Math.min(
      before.maxNegativePromptCharacters ?? maxPromptLength,
      by.maxNegativePromptCharacters ?? Infinity,
    ),
    textCommands: before.textCommands || by.textCommands === true,
    audio: by.audio ?? before.audio,
  };
}

function takesDuration(durations: Rules['durations'], value: number): boolean {
  if (durations === undefined) return true;
  if (Array.isArray(durations)) return durations.includes(value);
  return value >= (durations.min ?? 0) && value <= (durations.max ?? Infinity);
}

/** Returns why no request can satisfy the rules; undefined if one can. */
export function contradictionIn(by: InputRules): string | undefined {
  const { images } = by;
  if (by.resolutions.length === 0) return 'allow no resolution of the model';
  if (by.durations.length === 0) return 'allow no duration of the model';
  if (by.ratios.length === 0) return 'allow no ratio';
  if (images.min > images.max) return `want at least ${images.min} images and at most ${images.max}`;
  if (images.max > 0 && by.ratiosWithImages.length === 0)
    return 'allow images, but no ratio with them; say images: { max: 0 }';
  if (images.minPx > images.maxPx || images.minAspect > images.maxAspect) return 'allow no size of images';
  return undefined;
}

/** Returns why the input is rejected, for the client: the messages name its model, never an upstream. */
export function ruleErrors(by: InputRules, model: string, input: TaskInput): readonly FieldError[] {
  const {
    resolutions: sizes,
    durations,
    images,
    maxNegativePromptCharacters: maxNegativePrompt = maxPromptLength,
  } = by;
  const imageCount = input.imageUrls.length;
  const frame = (['firstFrameUrl', 'lastFrameUrl'] as const).find((name) => isPresent(input, name));
  const references = (['imageUrls', 'videoUrls', 'audioUrls'] as const).filter((name) => isPresent(input, name));
  const hasImages = imageCount > 0 || frame !== undefined;
  const allowed = hasImages ? by.ratiosWithImages : by.ratios;
  const suffix = `for ${model}`;
  const command = textCommandRefusal(input.prompt);
  const withImages = imageCount > 0 ? ' with reference images' : hasImages ? ' with a first or last frame' : '';
  const checks: readonly (readonly [boolean, string, string])[] = [
    [
      [...input.prompt].length <= by.maxPromptCharacters,
      'prompt',
      `be at most ${by.maxPromptCharacters} characters long ${suffix}`,
    ],
    [
      [...(input.negativePrompt ?? '')].length <= maxNegativePrompt,
      'negativePrompt',
      `be at most ${maxNegativePrompt} characters long ${suffix}`,
    ],
    [!by.textCommands || command === undefined, 'prompt', command ?? ''],
    [sizes.includes(input.resolution), 'resolution', `be ${allowedValuesText(sizes)} ${suffix}`],
    [durations.includes(input.duration), 'duration', `be ${allowedValuesText(durations)} seconds ${suffix}`],
    [allowed.includes(input.ratio), 'ratio', `be ${allowedValuesText(allowed)} ${suffix}${withImages}`],
    [imageCount >= images.min && imageCount <= images.max, 'imageUrls', `${imageBounds(images)} ${suffix}`],
    [
      by.framesWithReferences || frame === undefined || references.length === 0,
      frame ?? 'firstFrameUrl',
      `not be combined with ${references.join(', ')} ${suffix}`,
    ],
    [by.audio !== 'never' || !input.generateAudio, 'generateAudio', `be false ${suffix}`],
    [by.lastFrameAlone || frame !== 'lastFrameUrl', 'lastFrameUrl', `be combined with firstFrameUrl ${suffix}`],
  ];
  return checks.flatMap(([isTaken, field, allows]) =>
    isTaken ? [] : [{ path: `input.${field}`, message: `must ${allows}` }],
  );
}

function imageBounds({ min, max }: InputRules['images']): string {
  if (max === 0) return 'be empty';
  return `hold ${min === 0 ? 'at most' : `${min} to`} ${max} URLs`;
}

/** Returns why a reference image is refused; its size is known only after it was fetched. */
export function imageSizeRefusal({ images }: InputRules, { widthPx, heightPx }: FrameSize): string | undefined {
  const { minPx, maxPx, minAspect, maxAspect } = images;
  if (Math.min(widthPx, heightPx) < minPx || Math.max(widthPx, heightPx) > maxPx) {
    return `each side of a reference image must be ${minPx} to ${maxPx} pixels`;
  }
  const isTaken = widthPx >= minAspect * heightPx && widthPx <= maxAspect * heightPx;
  return isTaken ? undefined : `a reference image must be ${minAspect} to ${maxAspect} times as wide as high`;
}
