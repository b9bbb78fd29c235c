import { z } from 'zod';
import { plainText, required } from '../../http/fields.ts';
import { type Model, type ModelCatalogue, modelOfAlias } from '../../models/model.ts';
import { readClientFields } from '../client-fields.ts';
import { contentSchema, mediaRoles, readContent } from './ark-content.ts';

/** All other fields are checked against the model, because its options may be among them. */
export const createSchema = z.looseObject({
  model: z.string({ error: required('must be the name of a model') }),
  content: contentSchema.meta({ example: [{ type: 'text', text: 'A lighthouse in the fog' }] }),
  callback_url: z.string({ error: 'must be a URL' }).nullish(),
  safety_identifier: plainText(128).nullish().meta({ description: 'Your end user; returned with the task.' }),
});

const fieldNames = { generateAudio: 'generate_audio', negativePrompt: 'negative_prompt' };

/** Names in errors; media is named by its role. */
const otherNames = {
  ...Object.fromEntries(mediaRoles.map(([role, ours]) => [`input.${ours}`, `content.${role}`])),
  'input.prompt': 'content.text',
  callBackUrl: 'callback_url',
};

const neutral = {
  watermark: false,
  camera_fixed: false,
  return_last_frame: false,
  draft: false,
  service_tier: 'default',
};

type CreateBody = z.output<typeof createSchema>;

export function readArkRequest({ model: name, content, ...body }: CreateBody, models: ModelCatalogue) {
  const { callback_url: callBackUrl, safety_identifier: endUser, execution_expires_after: _, ...fields } = body;
  const model = models.get(modelOfAlias(models, name));
  const { prompt, options, media, errors } = readContent(content);
  const given = Object.entries(fields).filter(([, value]) => value !== null);
  const read = readClientFields([...options, ...given], { names: fieldNames, neutral, model });
  const request = {
    model: name,
    input: {
      ...inOurValues(read.input, model),
      ...(prompt !== '' && { prompt }),
      ...media,
    },
    callBackUrl,
    ...(typeof endUser === 'string' && { endUser }),
    errors: [...errors, ...read.errors],
  };
  return { request, names: { ...otherNames, ...read.names } };
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
