import { findNearestName } from '../../platform/text/did-you-mean.ts';
import { allowedValuesText, missingOrInvalidMessage } from './url-schema-and-text-checks.ts';

// Other spellings of a value that clients send, such as `16x9`, `720P` or `Auto`. Each field declares its own. A value decides what is paid
// for, so a request with another spelling is refused with the value that was probably meant.

/** Returns the value that another spelling stands for, if the field has such a value. `plain` is in lower case and without spaces. */
export type SpellingResolver = (plain: string) => string | undefined;

export function notAmongMessage(
  values: readonly (string | number)[],
  otherSpelling: SpellingResolver = () => undefined,
) {
  const must = `must be ${allowedValuesText(values)}`;
  // The only value needs no suggestion.
  return missingOrInvalidMessage((input) =>
    values.length === 1 ? must : withSuggestion(must, meantValue(input, values, otherSpelling)),
  );
}

export function withSuggestion(message: string, meant: string | undefined): string {
  return meant === undefined ? message : `${message}; did you mean ${meant}?`;
}

function meantValue(
  input: unknown,
  values: readonly (string | number)[],
  otherSpelling: SpellingResolver,
): string | undefined {
  if (typeof input !== 'string' && typeof input !== 'number') return undefined;
  const text = String(input);
  if (text.length > 100) return undefined;
  const known = values.map(String);
  const plain = plainText(text);
  const meant = known.find((value) => plainText(value) === plain) ?? otherSpelling(plain);
  if (meant !== undefined) return known.includes(meant) ? meant : undefined;
  // Numbers that differ in a digit mean something else.
  return /\d/.test(text) ? undefined : findNearestName(text, known);
}

/** \u00d7 is the sign of multiplication. */
function plainText(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[\s_]+/g, '')
    .replace(/^(\d+)[x\u00d7*/:-](\d+)$/, '$1:$2');
}

export function unknownModelMessage(input: unknown, names: readonly string[]): string {
  const must = `must be one of ${names.join(', ')}`;
  if (typeof input !== 'string' || input.length > 200) return must;
  const plain = (name: string) => name.trim().toLowerCase();
  const meant = names.find((name) => plain(name) === plain(input)) ?? findNearestName(input, names);
  return withSuggestion(must, meant);
}

const resolutionNames: Readonly<Record<string, string>> = {
  sd: '480p',
  hd: '720p',
  fhd: '1080p',
  fullhd: '1080p',
  qhd: '1440p',
  '2k': '1440p',
  uhd: '2160p',
  '4k': '2160p',
};

/** `1080`, `1080P`, `1920x1080` and `Full HD` are 1080p. */
export const resolutionFromSpelling: SpellingResolver = (plain) => {
  const [, width, height] = /^(\d{3,4}):(\d{3,4})$/.exec(plain) ?? [];
  if (width !== undefined && height !== undefined) return `${Math.min(Number(width), Number(height))}p`;
  return resolutionNames[plain] ?? (/^\d{3,4}$/.test(plain) ? `${plain}p` : undefined);
};

const ratioNames: Readonly<Record<string, string>> = {
  auto: 'adaptive',
  automatic: 'adaptive',
  original: 'adaptive',
  keep: 'adaptive',
  keepratio: 'adaptive',
  landscape: '16:9',
  horizontal: '16:9',
  wide: '16:9',
  widescreen: '16:9',
  portrait: '9:16',
  vertical: '9:16',
  square: '1:1',
  ultrawide: '21:9',
};

/** `Auto` is adaptive, `portrait` is 9:16, and `1280x720` is 16:9. */
export const ratioFromSpelling: SpellingResolver = (plain) => {
  const [, width, height] = /^(\d{1,4}):(\d{1,4})$/.exec(plain) ?? [];
  if (width === undefined || height === undefined) return ratioNames[plain];
  const divisor = greatestDivisor(Number(width), Number(height));
  return `${Number(width) / divisor}:${Number(height) / divisor}`;
};

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? Math.max(a, 1) : greatestDivisor(b, a % b);
}

/** The message for a seed; other APIs read -1 as a random one. */
export function notSeedMessage(max: number) {
  const must = `must be a whole number from 0 to ${max}`;
  const other = notNumberMessage(must, true);
  return (issue: { readonly input?: unknown }) =>
    issue.input === -1 ? `${must}; leave it out for a random one` : other(issue);
}

/** The message for a number; `5`, `5s` and `5 seconds` in text are 5. */
export function notNumberMessage(must: string, whole = false) {
  return missingOrInvalidMessage((input) =>
    withSuggestion(must, typeof input === 'string' ? numberIn(input, whole) : undefined),
  );
}

function numberIn(text: string, whole: boolean): string | undefined {
  const [, number] = /^\s*(\d{1,10}(?:\.\d{1,6})?)\s*(?:s|secs?|seconds?)?\s*$/i.exec(text) ?? [];
  return number === undefined || (whole && number.includes('.')) ? undefined : String(Number(number));
}

const truths: Readonly<Record<string, string>> = {
  true: 'true',
  yes: 'true',
  on: 'true',
  '1': 'true',
  false: 'false',
  no: 'false',
  off: 'false',
  '0': 'false',
};

export function notBooleanMessage(must = 'must be true or false') {
  return missingOrInvalidMessage((input) => {
    const isSpelled = typeof input === 'string' || typeof input === 'number';
    const meant = isSpelled ? truths[String(input).trim().toLowerCase()] : undefined;
    return withSuggestion(must, meant !== undefined && must.includes(meant) ? meant : undefined);
  });
}

/** The message for a value that is not a list: one address alone means a list of one. */
export function notListMessage(must: string) {
  return missingOrInvalidMessage((input) => {
    const isUrl = typeof input === 'string' && /^\s*https?:/i.test(input);
    return isUrl ? `${must}; put the URL into an array` : must;
  });
}
