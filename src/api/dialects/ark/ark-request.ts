import { z } from 'zod';
import { oneLineTextField } from '../../core/request-fields.ts';
import {
  type Model,
  type ModelsByName,
  modelNameFromAlias,
} from '../../../catalogue/models/model-type-and-name-lookup.ts';
import { type FieldName, isNumberOrBooleanField } from '../../../catalogue/input/task-input.ts';
import { arkFieldOfCommand } from '../../../catalogue/models/text-commands.ts';
import type { FieldError } from '../../../platform/text/field-errors.ts';
import { isObject } from '../../../platform/text/json.ts';
import type { VideoRequest } from '../create-video.ts';
import { scalarFromText } from '../translate-fields.ts';
import { type FieldFromArkContent, arkContentSchema, readArkContent } from './ark-content.ts';

/** All other fields are checked against the model, because its options may be among them. */
export const arkCreateBody = z.looseObject({
  model: z.unknown().meta({ type: 'string' }),
  content: arkContentSchema.meta({ example: [{ type: 'text', text: 'A lighthouse in the fog' }] }),
  callback_url: z.string({ error: 'must be a URL' }).nullish(),
  safety_identifier: oneLineTextField(128).nullish().meta({ description: 'Your end user; returned with the task.' }),
});

/**
 * Ark's name of each of our fields outside of `content`; its options have names of their own. A new field of the vocabulary does not
 * compile until it is decided. Clients may send each by our name, too.
 */
const theirNames: Readonly<Record<Exclude<FieldName, FieldFromArkContent | 'options'>, string>> = {
  negativePrompt: 'negative_prompt',
  resolution: 'resolution',
  duration: 'duration',
  ratio: 'ratio',
  generateAudio: 'generate_audio',
  seed: 'seed',
};
const named = Object.entries(theirNames);
const ourNames = new Map(named.filter(([ours, theirs]) => ours !== theirs).map(([ours, theirs]) => [theirs, ours]));

/** Names in errors. Media has a path of its own for each item. */
const otherNames = {
  frames: 'content',
  'input.imageUrls': 'content',
  'input.videoUrls': 'content',
  'input.audioUrls': 'content',
  'input.prompt': 'content.text',
  callBackUrl: 'callback_url',
};

/** Fields of Ark that are not offered, with the values that ask for nothing. Ark's own videos have 24 frames a second. */
function neutralFor(model: Model | undefined) {
  return {
    watermark: [false],
    camera_fixed: [false],
    // Every answer has the last frame if the model stores it.
    return_last_frame: model?.lastFrame === true ? [false, true] : [false],
    draft: [false],
    service_tier: ['default'],
    framespersecond: [24],
    frames: [],
    priority: [],
    output_format: [],
    tools: [],
    draft_task: [],
  };
}

/** Numbers and booleans, which some clients send as text. */
const scalarFields: readonly string[] = [
  ...named.filter(([ours]) => isNumberOrBooleanField(ours)).map(([, theirs]) => theirs),
  'framespersecond',
  'watermark',
  'camera_fixed',
  'return_last_frame',
  'draft',
];

type CreateBody = z.output<typeof arkCreateBody>;

export function readArkRequest({ model: name, content, ...body }: CreateBody, models: ModelsByName) {
  const { callback_url: callBackUrl, safety_identifier: endUser, execution_expires_after: expiry, ...fields } = body;
  const model = typeof name === 'string' ? models.get(modelNameFromAlias(models, name)) : undefined;
  const { prompt, options, media, paths, errors } = readArkContent(content);
  const given = Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([theirs, value]) => {
      const field = arkFieldOfCommand(theirs) ?? theirs;
      return { name: field, theirs, value: scalarFields.includes(field) ? scalarFromText(value) : value };
    });
  const inText = [...options].map(([field, value]) => ({ name: field, theirs: field, value }));
  const read = sortFields([...inText, ...given], model);
  const unused = [
    ...(expiry === undefined || expiry === null ? [] : ['execution_expires_after']),
    ...read.neutral.filter((field) => field === 'framespersecond' || field === 'fps'),
  ];
  const request: VideoRequest = {
    model: name,
    input: {
      ...inOurValues(read.input, model),
      ...(prompt !== '' && { prompt }),
      ...media,
    },
    callBackUrl,
    ...(typeof endUser === 'string' && { endUser }),
    errors: [...errors, ...read.errors],
    unused,
  };
  return { request, names: { ...otherNames, ...read.names, ...paths } };
}

/** `name`: the field's documented name. `theirs`: the name in the request. */
type ArkField = { readonly name: string; readonly theirs: string; readonly value: unknown };

/**
 * Sorts the fields of a request: `cameraFixed`, an option of the model, is called `camera_fixed` there. Fields that neither Ark nor the
 * model has are left as they are, for the parser to accept by our names or to refuse. Returns the client's names of our fields, for
 * errors, and the fields whose values change nothing.
 */
function sortFields(given: readonly ArkField[], model: Model | undefined) {
  const neutralValues: Readonly<Record<string, readonly unknown[]>> = neutralFor(model);
  const input: Record<string, unknown> = {};
  const options: Record<string, unknown> = {};
  const names = Object.fromEntries([...ourNames].map(([theirs, ours]) => [`input.${ours}`, theirs]));
  const errors: FieldError[] = [];
  const neutral: string[] = [];
  const first = new Map<string, unknown>();
  for (const { name, theirs, value } of given) {
    if (first.has(name) && first.get(name) !== value)
      errors.push({ path: theirs, message: 'is given with two values' });
    first.set(name, value);
    const [field, option] = [ourNames.get(name), camelCase(name)];
    const allowed = Object.hasOwn(neutralValues, name) ? (neutralValues[name] ?? []) : undefined;
    if (field !== undefined) input[field] = value;
    else if (Object.hasOwn(model?.input.fields.options ?? {}, option)) {
      options[option] = value;
      names[`input.options.${option}`] = theirs;
    } else if (allowed === undefined) {
      input[name] = value;
      if (theirs !== name) names[`input.${name}`] = theirs;
    } else if (allowed.includes(value)) neutral.push(theirs);
    else errors.push({ path: theirs, message: notSupported(allowed) });
  }
  const own = input['options'];
  if (Object.keys(options).length > 0) input['options'] = { ...(isObject(own) && own), ...options };
  return { input, names, errors, neutral };
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

function notSupported([neutral]: readonly unknown[]): string {
  const otherwise = neutral === undefined ? '' : ` or send ${JSON.stringify(neutral)}`;
  return `is not supported by this model; leave it out${otherwise}`;
}

/** A seed of -1 is a random one. Without a ratio, Ark takes that of the first image. */
function inOurValues({ seed, ...input }: Readonly<Record<string, unknown>>, model: Model | undefined) {
  return {
    ...(model?.input.fields.ratio.values.includes('adaptive') === true && { ratio: 'adaptive' }),
    ...input,
    ...(input['resolution'] === '4k' && { resolution: '2160p' }),
    ...(seed !== undefined && seed !== -1 && { seed }),
  };
}
