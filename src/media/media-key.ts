const maxKeyLength = 512;
const segment = '[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}';
const shape = new RegExp(`^${segment}(?:/${segment}){0,7}$`);

/** What is stored under each ending, so that a key alone says how its file is served. */
const contentTypes: Readonly<Record<string, string>> = {
  mp4: 'video/mp4',
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
};

/**
 * True for a key of the result store: at most eight segments of letters, digits, dash, underscore and dot, none of which
 * begins with a dot, with a known ending. Such a key is the same in a path, in a URL and in a file name.
 */
export function isMediaKey(key: string): boolean {
  return key.length <= maxKeyLength && shape.test(key) && endingType(key) !== undefined;
}

/** Throws for what is no key: keys are made by us, so a bad one is a bug. */
export function requireMediaKey(key: string): string {
  if (!isMediaKey(key)) throw new Error(`not a key of the result store: ${JSON.stringify(key.slice(0, maxKeyLength))}`);
  return key;
}

/** The content type of what is stored under the key. Throws for what is no key. */
export function contentTypeOf(key: string): string {
  const contentType = endingType(requireMediaKey(key));
  if (contentType === undefined) throw new Error(`key ${key} has no known ending`);
  return contentType;
}

function endingType(key: string): string | undefined {
  const ending = key.slice(key.lastIndexOf('.') + 1);
  return Object.hasOwn(contentTypes, ending) ? contentTypes[ending] : undefined;
}
