import { unknownNameMessage } from '../../platform/text/did-you-mean.ts';
import type { JsonValue } from '../../platform/text/json.ts';
import type { FrameSize } from '../media/frame-size.ts';
import type { MediaByRole } from '../media/media-by-role.ts';
import type { FieldName, TaskInput } from '../input/task-input.ts';

// Inputs of a model of any author: a map, or a graph of nodes, in which strings such as "{{prompt}}" stand for the
// values of a task. A string that is a placeholder and nothing else becomes the typed value; every other text stays as it is.

export type PlaceholderValues = {
  readonly input: TaskInput;
  readonly seed: number;
  readonly size: FrameSize;
  readonly fps: number;
  /** The reference media as the upstream takes them: addresses, or the form in which it refers to files that it stored. */
  readonly media: MediaByRole<JsonValue>;
  /** Begins the names of files that the upstream writes. */
  readonly prefix: string;
};

/** The text after the colon: `{{width:32}}`, `{{image:2}}`, `{{option:steps}}`. */
type Argument = 'number' | 'required number' | 'name';

type Placeholder = {
  readonly argument?: Argument;
  readonly value: (task: PlaceholderValues, argument: string | undefined) => JsonValue | undefined;
};

const placeholders = {
  prompt: { value: ({ input }) => input.prompt },
  negativePrompt: { value: ({ input }) => input.negativePrompt },
  resolution: { value: ({ input }) => input.resolution },
  seconds: { value: ({ input }) => input.duration },
  fps: { value: ({ fps }) => fps },
  frames: { argument: 'number', value: ({ input, fps }, step) => frameCount(input.duration * fps, step) },
  width: { argument: 'number', value: ({ size }, step) => nearest(size.widthPx, step) },
  height: { argument: 'number', value: ({ size }, step) => nearest(size.heightPx, step) },
  ratio: { value: ({ input }) => input.ratio },
  generateAudio: { value: ({ input }) => input.generateAudio },
  seed: { value: ({ seed }) => seed },
  option: { argument: 'name', value: ({ input }, name = '') => optionOf(input, name) },
  image: { argument: 'number', value: ({ media }, number = '1') => media.images[Number(number) - 1] },
  images: { value: ({ media }) => media.images },
  firstFrame: { value: ({ media }) => media.firstFrame },
  lastFrame: { value: ({ media }) => media.lastFrame },
  video: { argument: 'number', value: ({ media }, number = '1') => media.videos[Number(number) - 1] },
  videos: { value: ({ media }) => media.videos },
  // Its number is required, because a bare name could be read as whether sound is requested.
  audio: { argument: 'required number', value: ({ media }, number) => media.audios[Number(number) - 1] },
  audios: { value: ({ media }) => media.audios },
  prefix: { value: ({ prefix }) => prefix },
} as const satisfies Record<string, Placeholder>;

type PlaceholderName = keyof typeof placeholders;

/** The placeholders that pass on each field of the input. */
export const placeholdersOfField = {
  prompt: ['prompt'],
  negativePrompt: ['negativePrompt'],
  resolution: ['resolution', 'width', 'height'],
  duration: ['seconds', 'frames'],
  ratio: ['ratio', 'width', 'height'],
  generateAudio: ['generateAudio'],
  imageUrls: ['image', 'images'],
  firstFrameUrl: ['firstFrame'],
  lastFrameUrl: ['lastFrame'],
  videoUrls: ['video', 'videos'],
  audioUrls: ['audio', 'audios'],
  seed: ['seed'],
  options: ['option'],
} as const satisfies Record<FieldName, readonly PlaceholderName[]>;

/** The fields of the input that reach an upstream, and the options. `all` is a request that passes on every option. */
export type FieldsReadByTemplate = {
  readonly fields: ReadonlySet<FieldName>;
  readonly options: ReadonlySet<string> | 'all';
};

export function readsOption({ options }: FieldsReadByTemplate, name: string): boolean {
  return options === 'all' || options.has(name);
}

const names = Object.keys(placeholders);
const form = /^\{\{([^{}:]{0,100})(?::([^{}:]{1,100}))?\}\}$/;
const wholeNumber = /^[1-9]\d{0,3}$/;

/** The inputs with the task's values. A placeholder without a value, such as one for an image that the task lacks, is left out. */
export function fillPlaceholders(template: JsonValue, task: PlaceholderValues): JsonValue | undefined {
  if (typeof template === 'string') return valueOf(template, task);
  if (typeof template !== 'object' || template === null) return template;
  if (isList(template))
    return template.map((item) => fillPlaceholders(item, task)).filter((item) => item !== undefined);
  const filled = Object.entries(template).map(([name, value]) => [name, fillPlaceholders(value, task)] as const);
  return Object.fromEntries(filled.filter((field): field is [string, JsonValue] => field[1] !== undefined));
}

/** Returns each invalid placeholder once, with the one that was probably meant. */
export function placeholderProblems(template: unknown): readonly string[] {
  const problems = stringsIn(template).flatMap((text) => {
    const [, name, argument] = form.exec(text) ?? [];
    if (name === undefined) return [];
    if (!isPlaceholder(name)) return [unknownNameMessage('placeholder', name, names)];
    const problem = argumentProblem(placeholders[name], argument);
    return problem === undefined ? [] : [`the placeholder ${name} ${problem}`];
  });
  return [...new Set(problems)];
}

export function fieldsPassedByTemplate(template: unknown): FieldsReadByTemplate {
  const used = usedIn(template);
  const fieldsOf = Object.entries(placeholdersOfField) as [FieldName, readonly PlaceholderName[]][];
  const fields = fieldsOf.filter(([, by]) => used.some(({ name }) => by.includes(name))).map(([field]) => field);
  const options = used.flatMap(({ name, argument }) => (name === 'option' && argument !== undefined ? [argument] : []));
  return { fields: new Set(fields), options: new Set(options) };
}

export function usesPlaceholder(template: unknown, searched: readonly PlaceholderName[]): boolean {
  return usedIn(template).some(({ name }) => searched.includes(name));
}

function usedIn(template: unknown): readonly { readonly name: PlaceholderName; readonly argument?: string }[] {
  return stringsIn(template).flatMap((text) => {
    const [, name = '', argument] = form.exec(text) ?? [];
    return isPlaceholder(name) ? [{ name, ...(argument !== undefined && { argument }) }] : [];
  });
}

function argumentProblem({ argument: expected }: Placeholder, argument: string | undefined): string | undefined {
  const isMissing = argument === undefined;
  if (expected === undefined) return isMissing ? undefined : 'takes no number';
  if (expected === 'name') return isMissing ? 'needs a name, as in {{option:steps}}' : undefined;
  if (isMissing) return expected === 'number' ? undefined : 'needs a number, as in {{audio:1}}';
  return wholeNumber.test(argument) ? undefined : 'takes a number from 1 to 9999';
}

function valueOf(text: string, task: PlaceholderValues): JsonValue | undefined {
  const [, name = '', argument] = form.exec(text) ?? [];
  if (!isPlaceholder(name)) return text;
  const placeholder: Placeholder = placeholders[name];
  return argumentProblem(placeholder, argument) === undefined ? placeholder.value(task, argument) : text;
}

function isPlaceholder(name: string): name is PlaceholderName {
  return Object.hasOwn(placeholders, name);
}

function optionOf({ options = {} }: TaskInput, name: string): JsonValue | undefined {
  return Object.hasOwn(options, name) ? options[name] : undefined;
}

/** Video models take a multiple of four or eight, and one frame more. */
function frameCount(frames: number, step: string | undefined): number {
  return step === undefined ? frames : Math.round(frames / Number(step)) * Number(step) + 1;
}

function nearest(pixels: number, step: string | undefined): number {
  return step === undefined ? pixels : Math.max(1, Math.round(pixels / Number(step))) * Number(step);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
