import { z } from 'zod';
import { unknownNameMessage } from '../../platform/text/did-you-mean.ts';
import { isObject } from '../../platform/text/json.ts';
import { type TypeWords, validationMessage } from '../../platform/text/validation-messages.ts';

/** An error in a file that an operator wrote. It never repeats a value of the file, which could be a secret in the wrong field. */
export type FileProblem = { readonly path: readonly PropertyKey[]; readonly message: string };

/** Parses the data, or returns every problem: its field, what is allowed there, and what was probably meant. */
export function parseFileData<Data>(
  schema: z.ZodType<Data>,
  value: unknown,
): { readonly data?: Data | undefined; readonly problems: readonly FileProblem[] } {
  const { data, error } = schema.safeParse(value, { error: messageFor });
  const problems = (error?.issues ?? []).flatMap((issue) => {
    // The schema of a secret has an error of its own, because an unknown field there may be the secret itself.
    if (issue.code !== 'unrecognized_keys' || !issue.message.startsWith('unknown field')) return [issue];
    const messages = issue.message.split('\n');
    return issue.keys.map((key, index) => ({ path: [...issue.path, key], message: messages[index] ?? '' }));
  });
  return { data, problems };
}

/** Returns one message for an issue; unknown fields have a line each. */
function messageFor(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'unrecognized_keys') {
    const fields = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
    return issue.keys.map((key) => unknownNameMessage('field', key, fields)).join('\n');
  }
  // The kind of a provider and the shape of a moderation hook distinguish the cases of their unions.
  if (issue.code === 'invalid_union') {
    if (issue.discriminator === undefined) return 'must be plain JSON';
    if (fieldOrUndefined(issue.input, issue.discriminator) === 'preview')
      return 'preview is built in: leave this entry out, and write providers: [preview] at a model';
  }
  if (issue.code === 'invalid_format') return undefined;
  return validationMessage(issue, fileWords);
}

const fileWords: TypeWords = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
};

export function fieldOrUndefined(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

export function fieldPairsOrNone(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

export function itemsOrNone(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the entries of all tiers with their paths in the file. */
export function tierEntriesWithPaths<Entry, Model>(
  models: readonly (Model & { readonly tiers?: readonly (readonly Entry[])[] | undefined })[],
) {
  return models.flatMap((model, index) =>
    (model.tiers ?? []).flatMap((tier, row) =>
      tier.map((entry, column) => ({ entry, model, path: ['models', index, 'tiers', row, column] as const })),
    ),
  );
}
