import { z } from 'zod';
import { findNearestName } from './did-you-mean.ts';
import { type FieldError, fieldPath } from './field-errors.ts';
import { isObject } from './json.ts';

// Sentences for values that a schema rejects, for schemas that have none of their own. The validator's own text never leaves the service.

/** The words for types. Files call an object a map. */
export type TypeWords = Readonly<Record<string, string>>;

const requestWords: TypeWords = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
  undefined: 'left out',
};

/** Each unknown name among several fields has a line of its own. */
const unknownPrefix = 'unknown ';

export function messageOfRequestIssue(issue: z.core.$ZodRawIssue): string {
  if (issue.code === 'unrecognized_keys') {
    const known = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
    return issue.keys.map((key) => unknownFieldMessage(key, known)).join('\n');
  }
  if (issue.input === undefined) return 'is required';
  return validationMessage(issue, requestWords) ?? 'is not valid';
}

export function unknownFieldMessage(key: string, known: readonly string[]): string {
  const meant = findNearestName(key, known);
  return meant === undefined ? 'unknown field' : `unknown field, did you mean ${meant}?`;
}

/** Returns undefined for an issue that only words of the schema could explain. */
export function validationMessage(issue: z.core.$ZodRawIssue, words: TypeWords): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${words[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return choiceMessage(issue.input, issue.values.map(String));
    case 'invalid_union':
      return unionMessage(issue);
    case 'too_small':
      return `must ${measured(issue.origin, 'at least', Number(issue.minimum))}`;
    case 'too_big':
      return `must ${measured(issue.origin, 'at most', Number(issue.maximum))}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return formats[issue.format] === undefined ? undefined : `must be ${formats[issue.format]}`;
    case 'invalid_key':
      return issue.issues[0]?.message;
    case 'unrecognized_keys':
    case 'custom':
    case 'invalid_element':
    default:
      return undefined;
  }
}

const formats: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  url: 'a URL',
  email: 'an e-mail address',
  date: 'a day, such as 2026-01-31',
  datetime: 'a time, such as 2026-01-31T12:00:00Z',
};

function unionMessage(issue: Extract<z.core.$ZodRawIssue, { code: 'invalid_union' }>): string {
  const { discriminator } = issue;
  const options: unknown = issue['options'];
  if (discriminator !== undefined && Array.isArray(options))
    return choiceMessage(isObject(issue.input) ? issue.input[discriminator] : issue.input, options.map(String));
  const choices = issue.errors.flatMap(([first]) => {
    const [, choice] = first?.path.length === 0 ? (/^must be (.+)$/.exec(first.message) ?? []) : [];
    return choice ?? [];
  });
  return choices.length === 0 ? 'has none of the allowed forms' : `must be ${[...new Set(choices)].join(' or ')}`;
}

export function choiceMessage(value: unknown, allowed: readonly string[]): string {
  const meant = typeof value === 'string' ? findNearestName(value, allowed) : undefined;
  const choice = allowed.length === 1 ? `must be ${allowed[0]}` : `must be one of ${allowed.join(', ')}`;
  return meant === undefined ? choice : `${choice}; did you mean ${meant}?`;
}

function measured(origin: string, bound: 'at least' | 'at most', limit: number): string {
  const unit = { string: 'character', array: 'item' }[origin];
  if (unit === undefined) return `be ${bound} ${limit}`;
  return `have ${bound} ${limit} ${unit}${limit === 1 ? '' : 's'}`;
}

/**
 * The errors of a request. Unknown fields get paths of their own. Of the forms that a field may have, the errors are those of the one that
 * the value resembles.
 */
export function fieldErrorsOfIssue(issue: z.core.$ZodIssue): readonly FieldError[] {
  const { path, message } = issue;
  if (issue.code === 'invalid_union') {
    const nested = issue.errors.find((issues) => issues.some((one) => one.path.length > 0 || isUnknown(one)));
    if (nested !== undefined)
      return nested.flatMap((one) => fieldErrorsOfIssue({ ...one, path: [...path, ...one.path] }));
  }
  if (!isUnknown(issue) || message.startsWith('unknown parameter')) return [{ path: fieldPath(path), message }];
  const lines = message.startsWith(unknownPrefix) ? message.split('\n') : [];
  return issue.keys.map((key, index) => ({
    path: fieldPath([...path, key]),
    message: lines[index] ?? 'unknown field',
  }));
}

function isUnknown(issue: z.core.$ZodIssue): issue is z.core.$ZodIssueUnrecognizedKeys {
  return issue.code === 'unrecognized_keys';
}
