import { extname } from 'node:path';

const maxKeyLength = 512;
const segment = '[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}';
const keyShape = new RegExp(`^${segment}(?:/${segment}){0,7}$`);

/** The ending of a key decides how its file is served. */
const contentTypes: ReadonlyMap<string, string> = new Map([
  ['.mp4', 'video/mp4'],
  ['.mov', 'video/quicktime'],
  ['.webm', 'video/webm'],
  ['.mkv', 'video/x-matroska'],
  ['.avi', 'video/x-msvideo'],
  ['.mp3', 'audio/mpeg'],
  ['.wav', 'audio/wav'],
  ['.m4a', 'audio/mp4'],
  ['.aac', 'audio/aac'],
  ['.ogg', 'audio/ogg'],
  ['.mka', 'audio/x-matroska'],
  ['.flac', 'audio/flac'],
  ['.aiff', 'audio/aiff'],
  ['.jpg', 'image/jpeg'],
]);

/** Undefined for text that is no key. A key is spelled alike in a path, in a URL and in a file name. */
export function contentTypeOf(key: string): string | undefined {
  return key.length <= maxKeyLength && keyShape.test(key) ? contentTypes.get(extname(key)) : undefined;
}

/** Throws for text that is no key: keys are made by us, so an invalid one is a bug. */
export function requireMediaKey(key: string): string {
  if (contentTypeOf(key) !== undefined) return key;
  throw new Error(`not a key of the result store: ${JSON.stringify(key.slice(0, maxKeyLength))}`);
}

/** Throws for text that no key begins with. */
export function requireMediaFolder(folder: string): string {
  if (keyShape.test(folder)) return folder;
  throw new Error(`not a folder of the result store: ${JSON.stringify(folder)}`);
}

/** Two keys with the same ending. */
export type KeyMove = { readonly from: string; readonly to: string };

/** Throws for a move that would change how a file is served. */
export function requireMovesKeepEnding(moves: readonly KeyMove[]): readonly KeyMove[] {
  for (const { from, to } of moves)
    if (extname(requireMediaKey(from)) !== extname(requireMediaKey(to)))
      throw new Error(`${from} and ${to} do not end alike`);
  return moves;
}
