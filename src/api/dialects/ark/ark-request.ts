import { z } from 'zod';
import { plainText } from '../../core/request-fields.ts';
import { type Model, type ModelCatalogue, modelOfAlias } from '../../../catalogue/models/model.ts';
import { type FieldName, isScalar } from '../../../catalogue/input/task-input.ts';
import { fieldOfTextCommand } from '../../../catalogue/models/text-commands.ts';
import { readClientFields } from '../client-fields.ts';
import type { VideoRequest } from '../create-video.ts';
import { fromText } from '../translate-fields.ts';
import { type ContentField, contentSchema, readContent } from './ark-content.ts';

/** All other fields are checked against the model, because its options may be among them. */
export const createSchema = z.looseObject({
  model: z.unknown().meta({ type: 'string' }),
  content: contentSchema.meta({ example: [{ type: 'text', text: 'A lighthouse in the fog' }] }),
  callback_url: z.string({ error: 'must be a URL' }).nullish(),
  safety_identifier: plainText(128).nullish().meta({ description: 'Your end user; returned with the task.' }),
});

/**
 * Ark's name of each of our fields outside of `content`; its options have names of their own. A new field of the vocabulary does not
 * compile until it is decided. Clients may send each by our name, too.
 */
const theirNames: Readonly<Record<Exclude<FieldName, ContentField | 'options'>, string>> = {
  negativePrompt: 'negative_prompt',
  resolution: 'resolution',
  duration: 'duration',
  ratio: 'ratio',
  generateAudio: 'generate_audio',
  seed: 'seed',
};
const named = Object.entries(theirNames);
const fieldNames = Object.fromEntries(named.filter(([ours, theirs]) => ours !== theirs));

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
  ...named.filter(([ours]) => isScalar(ours)).map(([, theirs]) => theirs),
  'framespersecond',
  'watermark',
  'camera_fixed',
  'return_last_frame',
  'draft',
];

type CreateBody = z.output<typeof createSchema>;

export function readArkRequest({ model: name, content, ...body }: CreateBody, models: ModelCatalogue) {
  const { callback_url: callBackUrl, safety_identifier: endUser, execution_expires_after: expiry, ...fields } = body;
  const model = typeof name === 'string' ? models.get(modelOfAlias(models, name)) : undefined;
  const { prompt, options, media, paths, errors } = readContent(content);
  const given = Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([theirs, value]) => {
      const field = fieldOfTextCommand(theirs) ?? theirs;
      return { name: field, theirs, value: scalarFields.includes(field) ? fromText(value) : value };
    });
  const inText = [...options].map(([field, value]) => ({ name: field, theirs: field, value }));
  const read = readClientFields([...inText, ...given], { names: fieldNames, neutral: neutralFor(model), model });
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

/** A seed of -1 is a random one. Without a ratio, Ark takes that of the first image. */
function inOurValues({ seed, ...input }: Readonly<Record<string, unknown>>, model: Model | undefined) {
  return {
    ...(model?.input.fields.ratio.values.includes('adaptive') === true && { ratio: 'adaptive' }),
    ...input,
    ...(input['resolution'] === '4k' && { resolution: '2160p' }),
    ...(seed !== undefined && seed !== -1 && { seed }),
  };
}
