import { z } from 'zod';
import { type ModelsByName, modelNameFromAlias } from '../../../catalogue/models/model-type-and-name-lookup.ts';
import { isObject } from '../../../platform/text/json.ts';
import { type FieldName, inputFieldNames, type ModelInput } from '../../../catalogue/input/task-input.ts';
import type { VideoRequest } from '../create-video.ts';
import {
  duplicateSpellingErrors,
  jsonFromText,
  withoutEmptyAndIgnoredFields,
  translateGivenFields,
} from '../translate-fields.ts';
import { clientPathsOf, type FieldsWithErrors, readFrames, readReferences } from '../read-frames-and-references.ts';
import { readSize } from '../video-size.ts';

const anything = z.unknown().optional();

/** The reference shows these; the parser of the model checks the values. Our own fields of `input` are accepted by their names, too. */
export const openAICreateBody = z.looseObject({
  model: anything,
  prompt: anything,
  seconds: anything.meta({ description: 'The duration, such as `"4"`.' }),
  size: anything.meta({ description: 'A size that the model sells, such as `1280x720`.' }),
  input_reference: anything.meta({ description: 'An image: a file of the form, a URL or a data URL.' }),
});

/**
 * The names of each of our fields beside our own: those of OpenAI, those that llmgateway and New API add, and those of other gateways in snake case. A
 * new field of the vocabulary does not compile until they are decided; without any, it has our name only.
 */
const theirNames: Readonly<Record<FieldName, readonly string[]>> = {
  prompt: [],
  negativePrompt: ['negative_prompt'],
  resolution: [],
  duration: ['seconds'],
  ratio: ['aspect_ratio'],
  generateAudio: ['audio', 'generate_audio'],
  imageUrls: ['reference_images', 'images'],
  firstFrameUrl: ['first_frame'],
  lastFrameUrl: ['last_frame'],
  videoUrls: [],
  audioUrls: [],
  seed: [],
  options: [],
};

const ourNames = new Map([
  ...inputFieldNames.flatMap((ours) => theirNames[ours].map((theirs): [string, string] => [theirs, ours])),
  ['callback_url', 'callBackUrl'],
]);

/** Each of these holds images or references, whose roles decide our field. */
const mediaNames = ['input_reference', 'image', 'frame_images', 'input_references'];

/** Fields about the client's own users, which change nothing about the video. */
const ignored = ['user', 'safety_identifier'];

/** Translates a create request. `names` are the client's names of our fields, for errors. */
export function readOpenAIRequest(input: Readonly<Record<string, unknown>>, models: ModelsByName) {
  const given = withoutEmptyAndIgnoredFields(input, ignored);
  const { model = defaultModel(models), size, metadata, n, ...others } = given;
  const named = typeof model === 'string' ? models.get(modelNameFromAlias(models, model)) : undefined;
  const notes = readMetadata(jsonFromText(metadata), given);
  const read = [
    ...Object.entries(others).map(([name, value]) => fieldsFrom(name, value, named?.input)),
    ...Object.entries(notes.fields).map(([name, value]) => withinMetadata(fieldsFrom(name, value, named?.input))),
  ];
  const fields = read.flatMap((one) => one.fields);
  const { callBackUrl, ...values } = translateGivenFields(fields, named?.input);
  const frame = readSize(named?.input, size, values);
  const errors = [
    ...frame.errors,
    ...read.flatMap((one) => one.errors),
    ...notes.errors,
    ...duplicateSpellingErrors(fields),
    ...manyVideos(n),
  ];
  const unused = [...ignored.filter((name) => input[name] !== undefined), ...notes.unused];
  const request: VideoRequest = { model, input: { ...values, ...frame.fields }, callBackUrl, errors, unused };
  return { request, names: { 'input.duration': 'seconds', ...clientPathsOf(fields) } };
}

/** A create makes one video, so `n: 1` changes nothing. */
function manyVideos(n: unknown) {
  if (n === undefined || n === 1 || n === '1') return [];
  return [{ path: 'n', message: 'must be 1; send a request for each video' }];
}

/**
 * `metadata` holds notes of the client. Some gateways also put fields there that OpenAI's API does not have, such as `negative_prompt`;
 * those are used, unless the request has the same value beside `metadata`.
 */
function readMetadata(metadata: unknown, given: Readonly<Record<string, unknown>>) {
  const fields: Record<string, unknown> = {};
  const unused: string[] = [];
  for (const [name, value] of isObject(metadata) ? Object.entries(withoutEmptyAndIgnoredFields(metadata, [])) : []) {
    if (!isFieldName(name)) unused.push(`metadata.${name}`);
    else if (given[name] !== value) fields[name] = value;
  }
  if (metadata !== undefined && !isObject(metadata)) unused.push('metadata');
  // Other gateways pass it on to Ark. A video without its references is not what was ordered.
  const hasContent = isObject(metadata) && Array.isArray(metadata['content']);
  const message = 'is not used; send words as prompt, and addresses of images and clips as input_references';
  return { fields, unused, errors: hasContent ? [{ path: 'metadata.content', message }] : [] };
}

const fieldNames: readonly string[] = [...inputFieldNames, ...Object.values(theirNames).flat(), ...mediaNames];

/** The prompt and the model among the notes are copies. */
function isFieldName(name: string): boolean {
  return name !== 'prompt' && fieldNames.includes(name);
}

function withinMetadata({ fields, errors }: FieldsWithErrors): FieldsWithErrors {
  const path = (theirs: string) => `metadata.${theirs}`;
  return {
    fields: fields.map(({ items, ...field }) => ({
      ...field,
      theirs: path(field.theirs),
      ...(items !== undefined && { items: items.map(path) }),
    })),
    errors: errors.map((error) => ({ ...error, path: path(error.path) })),
  };
}

/** The model of a request without one: OpenAI's own default if it is sold here, or the only model. */
function defaultModel(models: ModelsByName): string | undefined {
  if (models.has(modelNameFromAlias(models, 'sora-2'))) return 'sora-2';
  return models.size === 1 ? [...models.keys()][0] : undefined;
}

function fieldsFrom(theirs: string, value: unknown, input: ModelInput | undefined): FieldsWithErrors {
  if (theirs === 'frame_images') return readFrames(theirs, value);
  if (theirs === 'input_references') return readReferences(theirs, value);
  if (theirs === 'input_reference' || theirs === 'image') {
    const isFrame = input?.fields.firstFrameUrl !== undefined && [value].flat().length === 1;
    return { fields: [{ ours: isFrame ? 'firstFrameUrl' : 'imageUrls', theirs, value }], errors: [] };
  }
  return { fields: [{ ours: ourNames.get(theirs) ?? theirs, theirs, value }], errors: [] };
}
