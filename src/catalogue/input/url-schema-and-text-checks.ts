import { z } from 'zod';

// Texts and addresses in requests.

/** Signed addresses with the token of a session have about 4,000. */
export const maxUrlLength = 8192;

/**
 * Returns why an address is rejected, or undefined. The outbound guard checks the text only, and each request checks the address that a
 * host name resolves to.
 */
export type RefuseUrl = (url: string) => string | undefined;

export function urlSchema(refuse: RefuseUrl, isMedia = false) {
  return z
    .string({ error: missingOrInvalidMessage('must be an http or https URL') })
    .superRefine((url, context) => {
      const message = (isMedia ? mediaProblem(url) : undefined) ?? urlProblem(url) ?? refuse(url);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ format: 'uri', maxLength: maxUrlLength, pattern: '^[hH][tT][tT][pP][sS]?://' });
}

const notHttp = 'must be an http or https URL';

/** Clients often send a file itself, or its path, instead of an address. */
function mediaProblem(url: string): string | undefined {
  if (/^\s*https?:/i.test(url)) return undefined;
  const isFile =
    /^\s*(?:data:|file:|blob:|\/(?!\/)|[.~\\]|[a-z]:\\)/i.test(url) ||
    /\.(?:jpe?g|png|webp|heic|mp4|mov|mp3|wav|m4a)$/i.test(url);
  return isFile
    ? `${notHttp}; upload a file with POST /api/v1/uploads (over MCP, upload_media), and give the url of the response`
    : undefined;
}

function urlProblem(url: string): string | undefined {
  if (!/^\s*https?:\/\//i.test(url)) return notHttp;
  if (url.length > maxUrlLength) return `must be at most ${maxUrlLength} characters`;
  // White space and control characters are dropped or encoded by URL parsers, each in its own way.
  if (!isStorableText(url) || /[\s\p{Cc}]/u.test(url)) return 'must not contain white space or control characters';
  return URL.canParse(url) ? undefined : notHttp;
}

/** PostgreSQL can store neither, so no field may contain them. */
export const notStorableTextMessage = 'must not contain NUL characters or unpaired surrogates';

/** True for a text in which nothing can be seen, such as one of zero-width spaces. */
export function isBlank(text: string): boolean {
  return /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u.test(text);
}

export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Counts code points, but only of a string short enough to matter: a code point is at most two UTF-16 units. */
export function fitsCharacters(text: string, maxLength: number): boolean {
  if (text.length > 2 * maxLength) return false;
  return [...text].length <= maxLength;
}

/** Distinguishes a missing value from an invalid one. */
export function missingOrInvalidMessage(otherwise: string | ((input: unknown) => string)) {
  return ({ input }: { readonly input?: unknown }) => {
    if (input === undefined) return 'is required';
    return typeof otherwise === 'string' ? otherwise : otherwise(input);
  };
}

/** Words for the allowed values in a message that begins with `must be`. */
export function allowedValuesText(values: readonly (string | number)[]): string {
  return values.length === 1 ? `${values[0]}` : `one of ${values.join(', ')}`;
}
