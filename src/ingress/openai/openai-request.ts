import { z } from 'zod';
import { type ModelCatalogue, modelOfAlias } from '../../models/model.ts';
import type { ModelInput } from '../../tasks/task-input.ts';
import type { VideoRequest } from '../create-video.ts';
import { commonFields, conflictsOf, type GivenField, givenOf, namesOf, valuesOf } from '../given-field.ts';
import { readSize } from '../video-size.ts';

const anything = z.unknown().optional();

/** The reference shows these; the parser of the model checks the values. Our own fields of `input` are accepted by their names, too. */
export const createSchema = z.looseObject({
  model: anything,
  prompt: anything,
  seconds: anything.meta({ description: 'The duration, such as `"4"`.' }),
  size: anything.meta({ description: 'A size that the model sells, such as `1280x720`.' }),
  input_reference: anything.meta({ description: 'An image: a file of the form, a URL or a data URL.' }),
});

/** Our names of OpenAI's fields, and of those that llmgateway adds. */
const ourNames = new Map([
  ['seconds', 'duration'],
  ['audio', 'generateAudio'],
  ['last_frame', 'lastFrameUrl'],
  ['reference_images', 'imageUrls'],
]);

/** Fields about the client's own users, which change nothing about the video. */
const ignored = ['user', 'metadata', 'safety_identifier'];

/** Translates a create request. `names` are the client's names of our fields, for errors. */
export function readOpenAIRequest(input: Readonly<Record<string, unknown>>, models: ModelCatalogue) {
  const { model = defaultModel(models), size, ...others } = givenOf(input, ignored);
  const named = typeof model === 'string' ? models.get(modelOfAlias(models, model)) : undefined;
  const fields = Object.entries(others).flatMap(([name, value]) => fieldsFrom(name, value, named?.input));
  const { callBackUrl, ...values } = valuesOf(fields, named?.input);
  const frame = readSize(named?.input, size, values);
  const errors = [...frame.errors, ...conflictsOf(fields)];
  const request: VideoRequest = { model, input: { ...values, ...frame.fields }, callBackUrl, errors };
  return { request, names: { 'input.duration': 'seconds', ...namesOf(fields) } };
}

/** The model of a request without one: OpenAI's own default if it is sold here, or the only model. */
function defaultModel(models: ModelCatalogue): string | undefined {
  const standard = modelOfAlias(models, 'sora-2');
  if (models.has(standard)) return standard;
  return models.size === 1 ? [...models.keys()][0] : undefined;
}

function fieldsFrom(theirs: string, value: unknown, input: ModelInput | undefined): readonly GivenField[] {
  if (theirs === 'input_reference' || theirs === 'image') {
    const isFrame = input?.fields.firstFrameUrl !== undefined && [value].flat().length === 1;
    return [{ ours: isFrame ? 'firstFrameUrl' : 'imageUrls', theirs, value }];
  }
  const ours = ourNames.get(theirs);
  return ours === undefined ? commonFields(theirs, value) : [{ ours, theirs, value }];
}
