import type { z } from 'zod';
import { unknownNameMessage } from '../../platform/text/did-you-mean.ts';
import {
  parseFileData,
  fieldOrUndefined,
  fieldPairsOrNone,
  itemsOrNone,
  type FileProblem,
} from './file-data-and-problems.ts';
import {
  declaresParameter,
  parameterSchemas,
  previewProviderName,
  type SecretRef,
  secretRefSchema,
} from './provider-schema.ts';
import type { providerFileRulesSchema } from '../models/input-rules.ts';

// The checks that one schema cannot make: what the parts of a catalogue say about each other. They read the raw data, so that all
// problems are in one report, also those between parts that have problems of their own.

/** A file that the catalogue names. Only files of the kind `http` have the last four fields. */
export type ReferencedFile = {
  readonly data?: unknown;
  readonly problem?: string | undefined;
  readonly images?: 'link' | 'data-url' | 'upload';
  readonly clips?: 'link' | 'data-url';
  readonly rules?: z.output<typeof providerFileRulesSchema>;
  /** The upstream deletes a job after this time. */
  readonly keepsJobsHours?: number;
};

export type ReferencedFilesByName = ReadonlyMap<string, ReferencedFile>;
/** The API calls moderation hooks, and workers call providers; each process needs the secrets of its own calls. */
export type SecretConsumerKind = 'provider' | 'moderation';
export type SecretCheck = (ref: SecretRef, user: SecretConsumerKind) => string | undefined;

export function crossCheck(
  data: unknown,
  files: ReferencedFilesByName,
  secretProblem: SecretCheck,
): readonly FileProblem[] {
  const providers = fieldPairsOrNone(fieldOrUndefined(data, 'providers'));
  const models = itemsOrNone(fieldOrUndefined(data, 'models'));
  const kinds = new Map(
    providers.map(([name, settings]) => [name, fieldOrUndefined(settings, 'kind') ?? 'none'] as const),
  );
  kinds.set(previewProviderName, 'preview');
  return [
    ...providers.flatMap(([name, settings]) => providerProblems(name, settings, files, secretProblem)),
    ...models.flatMap((model, index) =>
      below(
        ['models', index],
        [
          ...modelProblems(model, kinds, files),
          ...keyProblems(['moderation', 'key'], fieldOrUndefined(fieldOrUndefined(model, 'moderation'), 'key'), {
            secretProblem,
            user: 'moderation',
          }),
        ],
      ),
    ),
    ...below(['models'], duplicateNames(models)),
  ];
}

type Kinds = ReadonlyMap<string, unknown>;

function below(path: FileProblem['path'], problems: readonly FileProblem[]): readonly FileProblem[] {
  return problems.map((problem) => ({ path: [...path, ...problem.path], message: problem.message }));
}

function problemIf(isProblem: boolean, path: FileProblem['path'], message: string): readonly FileProblem[] {
  return isProblem ? [{ path, message }] : [];
}

function providerProblems(
  name: string,
  settings: unknown,
  files: ReferencedFilesByName,
  secretProblem: SecretCheck,
): readonly FileProblem[] {
  const secrets = fieldPairsOrNone(fieldOrUndefined(settings, 'secrets')).map(
    ([secret, ref]) => [['secrets', secret], ref] as const,
  );
  const refs = [[['key'], fieldOrUndefined(settings, 'key')] as const, ...secrets];
  const problems = refs.flatMap(([path, value]) => keyProblems(path, value, { secretProblem, user: 'provider' }));
  const file = fieldOrUndefined(settings, 'kind') === 'http' ? fieldOrUndefined(settings, 'file') : undefined;
  return [
    ...problemIf(
      name === previewProviderName,
      ['providers', name],
      'is the name of a built-in provider; choose another',
    ),
    ...below(['providers', name], [...problems, ...fileProblems(['file'], file, files)]),
  ];
}

function keyProblems(
  path: FileProblem['path'],
  value: unknown,
  { secretProblem, user }: { readonly secretProblem: SecretCheck; readonly user: SecretConsumerKind },
): readonly FileProblem[] {
  const { data: ref } = secretRefSchema.safeParse(value);
  const message = ref && secretProblem(ref, user);
  return message === undefined ? [] : [{ path, message }];
}

function fileProblems(path: FileProblem['path'], file: unknown, files: ReferencedFilesByName): readonly FileProblem[] {
  const message = typeof file === 'string' ? files.get(file)?.problem : undefined;
  return message === undefined ? [] : [{ path, message }];
}

type Entry = { readonly path: FileProblem['path']; readonly entry: unknown; readonly model: unknown };

function modelProblems(model: unknown, kinds: Kinds, files: ReferencedFilesByName): readonly FileProblem[] {
  const has = (name: string) => fieldOrUndefined(model, name) !== undefined;
  const short = itemsOrNone(fieldOrUndefined(model, 'providers'));
  const entries = itemsOrNone(fieldOrUndefined(model, 'tiers')).flatMap((tier, row) =>
    itemsOrNone(tier).map((entry, column): Entry => {
      return {
        path: ['tiers', row, column],
        entry,
        model: fieldOrUndefined(entry, 'model') ?? fieldOrUndefined(model, 'model'),
      };
    }),
  );
  const providers = [...short, ...entries.map(({ entry }) => fieldOrUndefined(entry, 'provider'))];
  const used = new Set(providers.map((name) => kinds.get(String(name))).filter((kind) => kind !== undefined));
  const pools = entries.map((one) => JSON.stringify([fieldOrUndefined(one.entry, 'provider'), one.model]));
  return [
    ...problemIf(has('tiers') && has('providers'), ['providers'], 'must not stand beside tiers; use one of them'),
    ...problemIf(used.has('preview') && used.size > 1, [has('tiers') ? 'tiers' : 'providers'], mixedProviders),
    ...entries.flatMap(({ path, entry }, index) => [
      ...below(path, entryProblems(entry, kinds, files)),
      ...problemIf(
        pools.indexOf(pools[index] ?? '') < index,
        path,
        'has the provider and upstream model of an earlier entry',
      ),
    ]),
    ...short.flatMap((name, row) => {
      const needsParameters = parameterProblems(kinds.get(String(name)), {}).length > 0;
      const path = ['providers', row];
      return [
        ...providerNameProblems(path, name, kinds),
        ...problemIf(needsParameters, path, 'needs parameters; use tiers'),
      ];
    }),
  ];
}

const mixedProviders = 'must not mix the preview, which runs on our workers, with upstreams';

function entryProblems(entry: unknown, kinds: Kinds, files: ReferencedFilesByName): readonly FileProblem[] {
  const provider = fieldOrUndefined(entry, 'provider');
  const parameters = fieldOrUndefined(entry, 'parameters') ?? {};
  const kind = kinds.get(String(provider));
  const workflow = declaresParameter(kind, 'workflow') ? fieldOrUndefined(parameters, 'workflow') : undefined;
  return [
    ...providerNameProblems(['provider'], provider, kinds),
    ...below(['parameters'], parameterProblems(kind, parameters)),
    ...fileProblems(['parameters', 'workflow'], workflow, files),
  ];
}

function providerNameProblems(path: FileProblem['path'], name: unknown, kinds: Kinds): readonly FileProblem[] {
  const isUnknown = typeof name === 'string' && !kinds.has(name);
  return isUnknown ? [{ path, message: unknownNameMessage('provider', name, [...kinds.keys()]) }] : [];
}

function parameterProblems(kind: unknown, parameters: unknown): readonly FileProblem[] {
  const schema = Object.entries(parameterSchemas).find(([name]) => name === kind)?.[1];
  return schema === undefined ? [] : parseFileData<unknown>(schema, parameters).problems;
}

function duplicateNames(models: readonly unknown[]): readonly FileProblem[] {
  const names = models.flatMap((model, index) => [
    { path: [index, 'model'], name: fieldOrUndefined(model, 'model') },
    ...itemsOrNone(fieldOrUndefined(model, 'aliases')).map((name, at) => ({ path: [index, 'aliases', at], name })),
  ]);
  const message = 'is used twice; names and aliases of models must differ from all others';
  return names.flatMap(({ path, name }, index) => {
    const isRepeated = name !== undefined && names.findIndex((one) => one.name === name) < index;
    return problemIf(isRepeated, path, message);
  });
}
