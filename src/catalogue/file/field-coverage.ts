import { defaultOf, fieldsOfModel, type FieldName, type ModelInput } from '../input/task-input.ts';
import { durationsOf } from '../input/resolutions-ratios-and-field-bounds.ts';
import type { DefaultOfIgnoredField, TierEntry } from './catalogue-schema-and-types.ts';
import type { FieldOrOptionName, PassedFields } from '../input/fields-sent-upstream.ts';
import type { FileProblem } from './file-data-and-problems.ts';

// Every field that a client can set must reach an upstream. One that no entry of the model passes on makes the file invalid; one that
// only some pass on narrows the entries for the tasks that use it.

/** An entry with the fields that its kind passes on, and with those that it would pass on if it could reach us. */
export type CoveredEntry = {
  readonly entry: TierEntry;
  readonly kind: string;
  readonly path: FileProblem['path'];
  readonly passes: PassedFields;
  readonly passesIfReachable: PassedFields;
};

/** Compares the fields of a model with what its entries pass on; `path` is that of the model's input. */
export function coverageProblemsAndIgnores(
  input: ModelInput,
  entries: readonly CoveredEntry[],
  path: FileProblem['path'],
) {
  const problems: FileProblem[] = [];
  const ignores = new Map<TierEntry, Record<string, DefaultOfIgnoredField>>();
  for (const { field, without } of choicesOf(input)) {
    const others = entries.filter((one) => !isServed(one, field));
    if (others.length === entries.length) {
      problems.push({ path: [...path, ...field.split('.')], message: notPassed(field, entries) });
      continue;
    }
    for (const { entry, kind, path: at } of others) {
      // An entry whose videos are silent refuses tasks with sound by its rules.
      if (field === 'generateAudio' && entry.rules.audio === 'never') continue;
      ignores.set(entry, { ...ignores.get(entry), [field]: without });
      if (field === 'seed')
        problems.push({ path: at, message: `${kind} does not pass on seed, which every task of this model has` });
    }
  }
  return {
    problems: [...problems, ...soldSilence(input, entries, path), ...unsoldResolutions(input, entries, path)],
    ignores,
  };
}

function notPassed(field: FieldOrOptionName, entries: readonly CoveredEntry[]): string {
  const kinds = [...new Set(entries.map(({ kind }) => kind))].join(', ');
  if (field === 'generateAudio' && entries.every(({ entry }) => entry.rules.audio === 'never'))
    return `${field} is passed on by no provider of this model (${kinds}), because their videos are silent (audio: never); set it to { fixed: false }`;
  const isUnreachable = entries.some(({ passesIfReachable }) => passesIfReachable.has(field));
  const reason = isUnreachable ? ', because the upstream cannot reach PUBLIC_URL' : '';
  return `${field} is passed on by no provider of this model (${kinds})${reason}; remove it, or add a provider that passes it on`;
}

type Choice = { readonly field: FieldOrOptionName; readonly without: DefaultOfIgnoredField };

/** The fields that a client can choose, and the value of a request that chooses nothing. */
function choicesOf(input: ModelInput): readonly Choice[] {
  return fieldsOfModel(input).flatMap((name): readonly Choice[] => {
    if (name === 'options')
      return Object.entries(input.fields.options ?? {}).map(([option, bounds]) => ({
        field: `options.${option}`,
        without: bounds.default ?? null,
      }));
    if (!hasChoice(input, name)) return [];
    // The defaults of these fields are scalars and lists of texts.
    return [{ field: name, without: (defaultOf(input, name) ?? null) as DefaultOfIgnoredField }];
  });
}

function hasChoice({ fields }: ModelInput, name: Exclude<FieldName, 'options'>): boolean {
  const choices: Partial<Record<FieldName, boolean>> = {
    prompt: false,
    resolution: fields.resolution.values.length > 1,
    ratio: fields.ratio.values.length > 1,
    duration: durationsOf(fields.duration).length > 1,
    generateAudio: fields.generateAudio.fixed === undefined,
    imageUrls: fields.imageUrls.max > 0,
  };
  return choices[name] ?? true;
}

/** True if the upstream gets the field, or has nothing to choose because its rules leave one value. */
function isServed({ entry: { rules }, passes }: CoveredEntry, field: FieldOrOptionName): boolean {
  const isPassed = passes.has(field);
  const byRules: Partial<Record<FieldOrOptionName, boolean>> = {
    resolution: isPassed || rules.resolutions.length === 1,
    duration: isPassed || rules.durations.length === 1,
    ratio: isPassed || rules.ratios.length === 1,
    imageUrls: isPassed && rules.images.max > 0,
    // Videos that always have sound are made silent by us.
    generateAudio: rules.audio === 'always' || (isPassed && rules.audio !== 'never'),
  };
  return byRules[field] ?? isPassed;
}

/** Sound must not be sold if every provider makes silent videos. A choice that no provider passes on is reported as such. */
function soldSilence(
  { fields }: ModelInput,
  entries: readonly CoveredEntry[],
  path: FileProblem['path'],
): readonly FileProblem[] {
  if (fields.generateAudio.fixed !== true || !entries.every(({ entry }) => entry.rules.audio === 'never')) return [];
  return [{ path: [...path, 'generateAudio'], message: notPassed('generateAudio', entries) }];
}

/** Each resolution that is sold must be made by an entry. */
function unsoldResolutions(
  { fields }: ModelInput,
  entries: readonly CoveredEntry[],
  path: FileProblem['path'],
): readonly FileProblem[] {
  const isMade = (value: string) => entries.some(({ entry }) => entry.rules.resolutions.some((one) => one === value));
  const missing = fields.resolution.values.filter((value) => !isMade(value));
  if (missing.length === 0) return [];
  return [{ path: [...path, 'resolution'], message: `the rules of every provider exclude ${missing.join(', ')}` }];
}
