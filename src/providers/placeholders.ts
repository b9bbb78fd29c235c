import { unknownName } from '../platform/did-you-mean.ts';
import type { FrameSize } from '../media/frame-size.ts';
import type { FieldName, TaskInput } from '../tasks/task-input.ts';

// Inputs of a model of any author: a map, or a graph of nodes, in which strings such as "{{prompt}}" stand for the
// values of a task. A string that is a placeholder and nothing else becomes the typed value; every other text stays as it is.

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [name: string]: JsonValue };

/** The values of a task for its placeholders. */
export type PlaceholderTask = {
  readonly input: TaskInput;
  readonly seed: number;
  readonly size: FrameSize;
  readonly fps: number;
  /** The reference images in order, as the upstream takes them: an address, or how it refers to a file that it stored. */
  readonly images: readonly JsonValue[];
  /** Begins the names of files that the upstream writes. */
  readonly prefix: string;
};

/** `step` is the number after the colon: `{{width:32}}`, `{{image:2}}`. */
type Placeholder = (task: PlaceholderTask, step: number | undefined) => JsonValue | undefined;

const placeholders = {
  prompt: ({ input }) => input.prompt,
  seconds: ({ input }) => input.duration,
  fps: ({ fps }) => fps,
  // Video models take a multiple of four or eight, and one frame more.
  frames: ({ input, fps }, step) =>
    step === undefined ? input.duration * fps : Math.round((input.duration * fps) / step) * step + 1,
  width: ({ size }, step) => nearest(size.widthPx, step),
  height: ({ size }, step) => nearest(size.heightPx, step),
  ratio: ({ input }) => input.ratio,
  audio: ({ input }) => input.generateAudio,
  seed: ({ seed }) => seed,
  image: ({ images }, number = 1) => images[number - 1],
  images: ({ images }) => images,
  prefix: ({ prefix }) => prefix,
} as const satisfies Record<string, Placeholder>;

const stepped: readonly string[] = ['frames', 'width', 'height', 'image'];
const names = Object.keys(placeholders);
const form = /^\{\{([^{}:]{0,100})(?::([1-9]\d{0,3}))?\}\}$/;

/** The inputs with the task's values. What stands for an image that the task does not have is left out. */
export function fillPlaceholders(template: JsonValue, task: PlaceholderTask): JsonValue | undefined {
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
    const [, name, step] = form.exec(text) ?? [];
    if (name === undefined) return [];
    if (!names.includes(name)) return [unknownName('placeholder', name, names)];
    return step !== undefined && !stepped.includes(name) ? [`the placeholder ${name} takes no number`] : [];
  });
  return [...new Set(problems)];
}

/** The fields of an input whose values the placeholders contain. */
const fieldsOfPlaceholder: Record<keyof typeof placeholders, readonly FieldName[]> = {
  prompt: ['prompt'],
  seconds: ['duration'],
  fps: [],
  frames: ['duration'],
  width: ['resolution', 'ratio'],
  height: ['resolution', 'ratio'],
  ratio: ['ratio'],
  audio: ['generateAudio'],
  seed: ['seed'],
  image: ['imageUrls'],
  images: ['imageUrls'],
  prefix: [],
};

/** The fields of an input that a template passes on. */
export function passedByTemplate(template: unknown): ReadonlySet<string> {
  const used = stringsIn(template).map((text) => form.exec(text)?.[1] ?? '');
  return new Set(used.flatMap((name) => (isPlaceholder(name) ? fieldsOfPlaceholder[name] : [])));
}

/** True if the inputs use one of these placeholders. */
export function usesPlaceholder(template: unknown, searched: readonly (keyof typeof placeholders)[]): boolean {
  return stringsIn(template).some((text) => searched.some((name) => form.exec(text)?.[1] === name));
}

function valueOf(text: string, task: PlaceholderTask): JsonValue | undefined {
  const [, name = '', step] = form.exec(text) ?? [];
  if (!isPlaceholder(name)) return text;
  const value: Placeholder = placeholders[name];
  return value(task, step === undefined ? undefined : Number(step));
}

function isPlaceholder(name: string): name is keyof typeof placeholders {
  return Object.hasOwn(placeholders, name);
}

function nearest(pixels: number, step: number | undefined): number {
  return step === undefined ? pixels : Math.max(1, Math.round(pixels / step)) * step;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
