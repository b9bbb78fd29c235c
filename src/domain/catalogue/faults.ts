import { z } from 'zod';
import { didYouMean } from '../did-you-mean.ts';

// What is wrong with a file that an operator wrote. No fault repeats a value of the file: it could be a secret in the wrong place.

export type Fault = { readonly path: readonly PropertyKey[]; readonly message: string };

/** The data as the schema reads it, or everything that is wrong: where, what is allowed there, and what was probably meant. */
export function check<Data>(
  schema: z.ZodType<Data>,
  value: unknown,
): { readonly data?: Data | undefined; readonly faults: readonly Fault[] } {
  const { data, error } = schema.safeParse(value, { error: wording });
  const faults = (error?.issues ?? []).flatMap((issue) => {
    // Where a secret should be, the schema has an error of its own: an unknown field there may be the secret itself.
    if (issue.code !== 'unrecognized_keys' || !issue.message.startsWith('unknown field')) return [issue];
    const messages = issue.message.split('\n');
    return issue.keys.map((key, index) => ({ path: [...issue.path, key], message: messages[index] ?? '' }));
  });
  return { data, faults };
}

/** One message an issue; that of unknown fields has a line for each. */
function wording(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${typeNames[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return wrongChoice(issue.input, issue.values.map(String));
    case 'invalid_union':
      // The kind of a provider is the one union whose cases a field tells apart.
      if (issue.discriminator === undefined) return 'must be plain JSON';
      return wrongChoice(fieldOf(issue.input, issue.discriminator), itemsOf(issue['options']).map(String));
    case 'too_small':
      return `must ${bounded(issue.origin)} at least ${issue.minimum}`;
    case 'too_big':
      return `must ${bounded(issue.origin)} at most ${issue.maximum}`;
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

function wrongChoice(value: unknown, allowed: readonly string[]): string {
  const meant = typeof value === 'string' ? didYouMean(value, allowed) : undefined;
  const choice = allowed.length === 1 ? `must be ${allowed[0]}` : `must be one of ${allowed.join(', ')}`;
  return meant === undefined ? choice : `${choice}; did you mean ${meant}?`;
}

function bounded(origin: string): string {
  if (origin === 'string') return 'have a number of characters of';
  return origin === 'array' ? 'have a number of items of' : 'be';
}

/** What to say of a name that is not among the known ones. */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  const meant = didYouMean(name, known);
  return `unknown ${what}, ${meant === undefined ? `allowed: ${known.join(', ')}` : `did you mean ${meant}?`}`;
}

/** The value's own field; undefined when it has none. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  // An object with such a field of its own.
  return (value as Readonly<Record<string, unknown>>)[name];
}

/** The value's fields with their names; none of what is no map. */
export function fieldsOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** For refinements that also look at what is faulty elsewhere, so that all faults are in one report. */
export const always = { when: ({ value }: { readonly value: unknown }) => typeof value === 'object' && value !== null };
