import { extname } from 'node:path/posix';

const maxKeyLength = 512;
const segment = '[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}';
const shape = new RegExp(`^${segment}(?:/${segment}){0,7}$`);

/** What is stored under each ending, so that a key alone says how its file is served. */
const contentTypes: ReadonlyMap<string, string> = new Map([
  ['.mp4', 'video/mp4'],
  ['.jpg', 'image/jpeg'],
]);

/**
 * The content type of what is stored under a key, or undefined for what is no key. A key has at most eight segments of letters,
 * digits, dash, underscore and dot, none of which begins with a dot, and a known ending. It is the same in a path, in a URL and
 * in a file name.
 */
export function contentTypeOf(key: string): string | undefined {
  return key.length <= maxKeyLength && shape.test(key) ? contentTypes.get(extname(key)) : undefined;
}

/** Throws for what is no key: keys are made by us, so a bad one is a bug. */
export function requireMediaKey(key: string): string {
  if (contentTypeOf(key) !== undefined) return key;
  throw new Error(`not a key of the result store: ${JSON.stringify(key.slice(0, maxKeyLength))}`);
}
