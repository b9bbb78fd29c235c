import { z } from 'zod';
import { didYouMean, unknownName } from '../../platform/did-you-mean.ts';

/** An error in a file that an operator wrote. It never repeats a value of the file, which could be a secret in the wrong field. */
export type Problem = { readonly path: readonly PropertyKey[]; readonly message: string };

/** Parses the data, or returns every problem: its field, what is allowed there, and what was probably meant. */
export function check<Data>(
  schema: z.ZodType<Data>,
  value: unknown,
): { readonly data?: Data | undefined; readonly problems: readonly Problem[] } {
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
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${typeNames[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return choiceMessage(issue.input, issue.values.map(String));
    case 'invalid_union':
      // The kind of a provider and the shape of a moderation hook distinguish the cases of their unions.
      if (issue.discriminator === undefined) return 'must be plain JSON';
      if (fieldOf(issue.input, issue.discriminator) === 'preview')
        return 'preview is built in: leave this entry out, and write providers: [preview] at a model';
      return choiceMessage(fieldOf(issue.input, issue.discriminator), itemsOf(issue['options']).map(String));
    case 'too_small':
      return `must ${measured(issue.origin, 'at least', Number(issue.minimum))}`;
    case 'too_big':
      return `must ${measured(issue.origin, 'at most', Number(issue.maximum))}`;
    case 'unrecognized_keys': {
      const fields = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
      return issue.keys.map((key) => unknownName('field', key, fields)).join('\n');
    }
    case 'invalid_key':
      return issue.issues[0]?.message;
    case 'custom':
    case 'invalid_element':
    case 'invalid_format':
    case 'not_multiple_of':
    default:
      return undefined;
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
};

function choiceMessage(value: unknown, allowed: readonly string[]): string {
  const meant = typeof value === 'string' ? didYouMean(value, allowed) : undefined;
  const choice = allowed.length === 1 ? `must be ${allowed[0]}` : `must be one of ${allowed.join(', ')}`;
  return meant === undefined ? choice : `${choice}; did you mean ${meant}?`;
}

function measured(origin: string, bound: 'at least' | 'at most', limit: number): string {
  const unit = { string: 'character', array: 'item' }[origin];
  if (unit === undefined) return `be ${bound} ${limit}`;
  return `have ${bound} ${limit} ${unit}${limit === 1 ? '' : 's'}`;
}

/** Returns the value's own field, undefined when it has none. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  // An object with such a field of its own.
  return (value as Readonly<Record<string, unknown>>)[name];
}

/** Returns the value's fields with their names; a value that is no map has none. */
export function fieldsOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
