import { z } from 'zod';
import {
  inputLimits,
  resolutions,
  ratios,
  type MediaUrlPolicy,
  type MediaKind,
  choiceBoundsSchema,
  durationBoundsSchema,
  defaultDuration,
  requiresFieldsSchema,
  singleUrlBoundsSchema,
  megabytesBoundSchema,
  isMinAtMostMax,
  minAboveMaxIssue,
  type CountBounds,
  type ClipBounds,
  urlsSchema,
  maxSeed,
  defaultChoice,
  durationSchema,
  clipBoundsShape,
} from './resolutions-ratios-and-field-bounds.ts';
import {
  defaultOptions,
  declaredOptionsSchema,
  requestedOptionsSchema,
  type OptionsBounds,
  type OptionValue,
} from './extra-model-options.ts';
import {
  fitsCharacters,
  isBlank,
  isStorableText,
  notStorableTextMessage,
  missingOrInvalidMessage,
  urlSchema,
} from './url-schema-and-text-checks.ts';
import {
  notAmongMessage,
  notBooleanMessage,
  notSeedMessage,
  ratioFromSpelling,
  resolutionFromSpelling,
} from './spelling-suggestions.ts';

// The vocabulary of a create request: each field of `input` is declared once, here. A model of the catalogue selects fields and bounds
// them. Validation, defaults, JSON Schema, record, fingerprint and the dialect's spelling are made from the declaration. This file imports
// zod, so workflow code may import only its types.

/**
 * `required`: the client sends it. `defaulted`: part of every model and of every record. `optional`: part of the models that select it,
 * and of a record if the client sent it or the model has a default.
 */
type FieldKind = 'required' | 'defaulted' | 'optional';

export type InputField<Value, Bounds, Kind extends FieldKind = FieldKind> = {
  readonly kind: Kind;
  /** The bounds that a model of the catalogue may set. */
  readonly bounds: z.ZodType<Bounds>;
  /** The bounds of the specification, which hold in models without `input`; a field without them is not part of such models. */
  readonly standard?: NoInfer<Bounds>;
  /** The values that a client may send; null and absence mean the default. */
  readonly request: (bounds: NoInfer<Bounds>, rules: MediaUrlPolicy) => z.ZodType<NoInfer<Value> | null | undefined>;
  /** The value of a request that leaves the field out. */
  readonly standardValue?: (bounds: NoInfer<Bounds>) => NoInfer<Value> | undefined;
  /** The value as the record shows it. */
  readonly record: z.ZodType<Value>;
  /** Its name in the dialect `kie`. */
  readonly kie: string;
  /** The field holds addresses of media of this kind. */
  readonly media?: MediaKind;
};

function field<Value, Bounds, const Kind extends FieldKind>(
  declared: InputField<Value, Bounds, Kind>,
): InputField<Value, Bounds, Kind> {
  return declared;
}

function urlField(kie: string, description: string) {
  return field({
    kind: 'optional',
    bounds: singleUrlBoundsSchema,
    request: ({ required: isRequired }, { refuseMediaUrl }) => {
      const schema = urlSchema(refuseMediaUrl, true).meta({ description, contentMediaType: 'image/*' });
      return isRequired === true ? schema : schema.nullish();
    },
    record: z.string(),
    kie,
    media: 'image',
  });
}

function clipsField<Bounds extends ClipBounds>(
  media: Exclude<MediaKind, 'image'>,
  bounds: z.ZodType<Bounds>,
  plural: string,
) {
  return field<readonly string[], Bounds, 'optional'>({
    kind: 'optional',
    bounds: bounds.refine(isMinAtMostMax, minAboveMaxIssue),
    request: (given, rules) => {
      const limits = `of at most ${given.maxSeconds} seconds and ${given.maxMegabytes} MB each.`;
      return urlsSchema(given, rules, media, `Reference ${plural} ${limits}`);
    },
    record: z.array(z.string()),
    kie: `reference_${media}_urls`,
    media,
  });
}

function adaptiveText(declared: string | undefined): string {
  const text = '; `adaptive` takes the ratio nearest to the first image';
  return declared === undefined ? `${text}, and is the default with a first or last frame` : text;
}

/** `meta` adds rules to the OpenAPI document that JSON Schema cannot derive. */
export const inputFields = {
  prompt: field({
    kind: 'required',
    bounds: z.strictObject({
      maxCharacters: z.int().min(1).max(inputLimits.maxPromptLength).default(inputLimits.maxPromptLength),
      required: z.boolean().optional().meta({ description: 'False for a model that animates images without words.' }),
    }),
    standard: { maxCharacters: inputLimits.maxPromptLength },
    request: ({ maxCharacters, required: isRequired = true }) => {
      const text = z
        .string({ error: missingOrInvalidMessage('must be a string') })
        .refine((prompt) => !isRequired || !isBlank(prompt), { error: 'must not be empty or only white space' })
        .refine((prompt) => fitsCharacters(prompt, maxCharacters), {
          error: `must be at most ${maxCharacters} characters`,
        })
        .refine(isStorableText, { error: notStorableTextMessage });
      if (isRequired) return text.meta({ minLength: 1, maxLength: maxCharacters, pattern: String.raw`\S` });
      return text.meta({ description: 'May be left out with an image.', maxLength: maxCharacters }).nullish();
    },
    // Records always have a prompt.
    standardValue: ({ required: isRequired }) => (isRequired === false ? '' : undefined),
    record: z.string(),
    kie: 'prompt',
  }),
  negativePrompt: field({
    kind: 'optional',
    bounds: z.strictObject({ maxCharacters: z.int().min(1).max(5000).default(2500), requires: requiresFieldsSchema }),
    request: ({ maxCharacters }) =>
      z
        .string({ error: 'must be a string' })
        .refine((text) => fitsCharacters(text, maxCharacters), { error: `must be at most ${maxCharacters} characters` })
        .refine(isStorableText, { error: notStorableTextMessage })
        .meta({ description: 'A description of things that the video should not show.', maxLength: maxCharacters })
        .nullish(),
    record: z.string(),
    kie: 'negative_prompt',
  }),
  resolution: field({
    kind: 'defaulted',
    bounds: choiceBoundsSchema(resolutions),
    standard: { values: ['720p'] },
    request: (bounds) =>
      z
        .enum(bounds.values, { error: notAmongMessage(bounds.values, resolutionFromSpelling) })
        .meta({ description: `Default ${defaultChoice(bounds, '720p')}.` })
        .nullish(),
    standardValue: (bounds) => defaultChoice(bounds, '720p'),
    record: z.enum(resolutions),
    kie: 'resolution',
  }),
  duration: field({
    kind: 'defaulted',
    bounds: durationBoundsSchema,
    standard: { min: 4, max: 15 },
    request: (bounds) => durationSchema(bounds).nullish(),
    standardValue: defaultDuration,
    record: z.int().meta({ description: 'Whole seconds.' }),
    kie: 'duration',
  }),
  ratio: field({
    kind: 'defaulted',
    bounds: choiceBoundsSchema(ratios),
    standard: { values: ['adaptive', '16:9', '9:16', '1:1', '4:3', '3:4', '21:9'] },
    request: (bounds) =>
      z
        .enum(bounds.values, { error: notAmongMessage(bounds.values, ratioFromSpelling) })
        .meta({
          description: `Default ${defaultChoice(bounds, '16:9')}${
            bounds.values.includes('adaptive') ? adaptiveText(bounds.default) : ''
          }.`,
        })
        .nullish(),
    standardValue: (bounds) => defaultChoice(bounds, '16:9'),
    record: z.enum(ratios),
    kie: 'aspect_ratio',
  }),
  generateAudio: field<boolean, { default?: boolean | undefined; fixed?: boolean | undefined }, 'defaulted'>({
    kind: 'defaulted',
    bounds: z
      .strictObject({ default: z.boolean().optional(), fixed: z.boolean().optional() })
      .refine((bounds) => bounds.default === undefined || bounds.fixed === undefined, {
        error: 'must have default or fixed, not both',
      }),
    standard: { default: true },
    request: ({ fixed, default: standard = true }) =>
      (fixed === undefined
        ? z.boolean({ error: notBooleanMessage() })
        : z.literal(fixed, { error: notBooleanMessage(`must be ${fixed}`) })
      )
        .meta({ description: `Default ${fixed ?? standard}.` })
        .nullish(),
    standardValue: ({ fixed, default: standard = true }) => fixed ?? standard,
    record: z.boolean(),
    kie: 'generate_audio',
  }),
  imageUrls: field<readonly string[], CountBounds & { requires?: string[] | undefined }, 'defaulted'>({
    kind: 'defaulted',
    bounds: z
      .strictObject({
        min: z.int().min(0).max(inputLimits.maxImages).default(0),
        max: z.int().min(0).max(inputLimits.maxImages),
        requires: requiresFieldsSchema,
      })
      .refine(isMinAtMostMax, minAboveMaxIssue),
    standard: { min: 0, max: 9 },
    request: (bounds, rules) =>
      urlsSchema(bounds, rules, 'image', 'Reference images; none for text-to-video.') as z.ZodType<
        readonly string[] | null | undefined
      >,
    standardValue: () => [],
    record: z.array(z.string()),
    kie: 'reference_image_urls',
    media: 'image',
  }),
  firstFrameUrl: urlField('first_frame_url', 'The image with which the video begins.'),
  lastFrameUrl: urlField('last_frame_url', 'The image with which the video ends.'),
  videoUrls: clipsField(
    'video',
    z.strictObject({
      ...clipBoundsShape,
      maxMegabytes: megabytesBoundSchema(100),
      maxPixels: z.int().min(1).max(36_000_000).default(8_294_400).meta({ description: 'Width × height.' }),
    }),
    'videos',
  ),
  audioUrls: clipsField(
    'audio',
    z.strictObject({ ...clipBoundsShape, maxMegabytes: megabytesBoundSchema(30) }),
    'audio',
  ),
  seed: field({
    kind: 'optional',
    bounds: z
      .strictObject({ max: z.int().min(1).max(maxSeed).default(maxSeed), requires: requiresFieldsSchema })
      .meta({ description: 'Videos can be repeated: a task without a seed gets one.' }),
    request: ({ max }) => {
      const error = notSeedMessage(max);
      return z
        .int({ error })
        .min(0, { error })
        .max(max, { error })
        .meta({ description: 'Repeats a video; chosen at random if left out, and shown in the record.' })
        .nullish();
    },
    record: z.int(),
    kie: 'seed',
  }),
  options: field<Readonly<Record<string, OptionValue>>, OptionsBounds, 'optional'>({
    kind: 'optional',
    bounds: declaredOptionsSchema,
    request: (bounds) => requestedOptionsSchema(bounds).nullish(),
    standardValue: defaultOptions,
    record: z.record(z.string(), z.union([z.boolean(), z.number(), z.string()])),
    kie: 'options',
  }),
} as const;
