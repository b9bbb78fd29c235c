import type { z } from 'zod';
import { unknownName } from '../../platform/text/did-you-mean.ts';
import { parseData, fieldOf, fieldsOf, itemsOf, type Problem } from './catalogue-problems.ts';
import { declaresParameter, parameterSchemas, previewProvider, type SecretRef, secretRef } from './provider-schema.ts';
import type { modelRules } from '../models/input-rules.ts';

// The checks that one schema cannot make: what the parts of a catalogue say about each other. They read the raw data, so that all
// problems are in one report, also those between parts that have problems of their own.

/** A file that the catalogue names. Only files of the kind `http` have the last four fields. */
export type ReferencedFile = {
  readonly data?: unknown;
  readonly problem?: string | undefined;
  readonly images?: 'link' | 'data-url' | 'upload';
  readonly clips?: 'link' | 'data-url';
  readonly rules?: z.output<typeof modelRules>;
  /** The upstream deletes a job after this time. */
  readonly keepsJobsHours?: number;
};

export type CatalogueFiles = ReadonlyMap<string, ReferencedFile>;
/** The API calls moderation hooks, and workers call providers; each process needs the secrets of its own calls. */
export type SecretUser = 'provider' | 'moderation';
export type SecretCheck = (ref: SecretRef, user: SecretUser) => string | undefined;

export function crossCheck(data: unknown, files: CatalogueFiles, secretProblem: SecretCheck): readonly Problem[] {
  const providers = fieldsOf(fieldOf(data, 'providers'));
  const models = itemsOf(fieldOf(data, 'models'));
  const kinds = new Map(providers.map(([name, settings]) => [name, fieldOf(settings, 'kind') ?? 'none'] as const));
  kinds.set(previewProvider, 'preview');
  return [
    ...providers.flatMap(([name, settings]) => providerProblems(name, settings, files, secretProblem)),
    ...models.flatMap((model, index) =>
      below(
        ['models', index],
        [
          ...modelProblems(model, kinds, files),
          ...keyProblems(['moderation', 'key'], fieldOf(fieldOf(model, 'moderation'), 'key'), {
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

function below(path: Problem['path'], problems: readonly Problem[]): readonly Problem[] {
  return problems.map((problem) => ({ path: [...path, ...problem.path], message: problem.message }));
}

function problemIf(isProblem: boolean, path: Problem['path'], message: string): readonly Problem[] {
  return isProblem ? [{ path, message }] : [];
}

function providerProblems(
  name: string,
  settings: unknown,
  files: CatalogueFiles,
  secretProblem: SecretCheck,
): readonly Problem[] {
  const secrets = fieldsOf(fieldOf(settings, 'secrets')).map(([secret, ref]) => [['secrets', secret], ref] as const);
  const refs = [[['key'], fieldOf(settings, 'key')] as const, ...secrets];
  const problems = refs.flatMap(([path, value]) => keyProblems(path, value, { secretProblem, user: 'provider' }));
  const file = fieldOf(settings, 'kind') === 'http' ? fieldOf(settings, 'file') : undefined;
  return [
    ...problemIf(name === previewProvider, ['providers', name], 'is the name of a built-in provider; choose another'),
    ...below(['providers', name], [...problems, ...fileProblems(['file'], file, files)]),
  ];
}

function keyProblems(
  path: Problem['path'],
  value: unknown,
  { secretProblem, user }: { readonly secretProblem: SecretCheck; readonly user: SecretUser },
): readonly Problem[] {
  const { data: ref } = secretRef.safeParse(value);
  const message = ref && secretProblem(ref, user);
  return message === undefined ? [] : [{ path, message }];
}

function fileProblems(path: Problem['path'], file: unknown, files: CatalogueFiles): readonly Problem[] {
  const message = typeof file === 'string' ? files.get(file)?.problem : undefined;
  return message === undefined ? [] : [{ path, message }];
}

type Entry = { readonly path: Problem['path']; readonly entry: unknown; readonly model: unknown };

function modelProblems(model: unknown, kinds: Kinds, files: CatalogueFiles): readonly Problem[] {
  const has = (name: string) => fieldOf(model, name) !== undefined;
  const short = itemsOf(fieldOf(model, 'providers'));
  const entries = itemsOf(fieldOf(model, 'tiers')).flatMap((tier, row) =>
    itemsOf(tier).map((entry, column): Entry => {
      return { path: ['tiers', row, column], entry, model: fieldOf(entry, 'model') ?? fieldOf(model, 'model') };
    }),
  );
  const providers = [...short, ...entries.map(({ entry }) => fieldOf(entry, 'provider'))];
  const used = new Set(providers.map((name) => kinds.get(String(name))).filter((kind) => kind !== undefined));
  const pools = entries.map((one) => JSON.stringify([fieldOf(one.entry, 'provider'), one.model]));
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

function entryProblems(entry: unknown, kinds: Kinds, files: CatalogueFiles): readonly Problem[] {
  const provider = fieldOf(entry, 'provider');
  const parameters = fieldOf(entry, 'parameters') ?? {};
  const kind = kinds.get(String(provider));
  const workflow = declaresParameter(kind, 'workflow') ? fieldOf(parameters, 'workflow') : undefined;
  return [
    ...providerNameProblems(['provider'], provider, kinds),
    ...below(['parameters'], parameterProblems(kind, parameters)),
    ...fileProblems(['parameters', 'workflow'], workflow, files),
  ];
}

function providerNameProblems(path: Problem['path'], name: unknown, kinds: Kinds): readonly Problem[] {
  const isUnknown = typeof name === 'string' && !kinds.has(name);
  return isUnknown ? [{ path, message: unknownName('provider', name, [...kinds.keys()]) }] : [];
}

function parameterProblems(kind: unknown, parameters: unknown): readonly Problem[] {
  const schema = Object.entries(parameterSchemas).find(([name]) => name === kind)?.[1];
  return schema === undefined ? [] : parseData<unknown>(schema, parameters).problems;
}

function duplicateNames(models: readonly unknown[]): readonly Problem[] {
  const names = models.flatMap((model, index) => [
    { path: [index, 'model'], name: fieldOf(model, 'model') },
    ...itemsOf(fieldOf(model, 'aliases')).map((name, at) => ({ path: [index, 'aliases', at], name })),
  ]);
  const message = 'is used twice; names and aliases of models must differ from all others';
  return names.flatMap(({ path, name }, index) => {
    const isRepeated = name !== undefined && names.findIndex((one) => one.name === name) < index;
    return problemIf(isRepeated, path, message);
  });
}
