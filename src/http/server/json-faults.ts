import { fieldPath } from '../../domain/field-errors.ts';
import { isPlainText } from '../../domain/task-input.ts';

/** What no request may bring, although `JSON.parse` takes it; `path` names the place (`input.prompt`). */
export type JsonFault =
  | { readonly kind: 'repeated_key' | 'not_plain_text'; readonly path: string }
  | { readonly kind: 'too_deep' };

/** Far above what any request of ours needs. */
export const maxJsonDepth = 32;

/** An object with the keys that it has so far, or an array with the index of its current element. */
type Level = { readonly keys: Set<string>; key: string } | { index: number };

/**
 * The first fault of a text that `JSON.parse` has taken, so that strings and brackets are all the grammar that is left to
 * know. Of equal keys `JSON.parse` takes the last, where another reader of the request may have taken the first.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const levels: Level[] = [];
  let isKeyNext = false;
  for (let at = 0; at < text.length; at += 1) {
    const level = levels.at(-1);
    const character = text.charAt(at);
    switch (character) {
      case '{':
      case '[':
        isKeyNext = character === '{';
        levels.push(isKeyNext ? { keys: new Set(), key: '' } : { index: 0 });
        if (levels.length > maxJsonDepth) return { kind: 'too_deep' };
        break;
      case '}':
      case ']':
        levels.pop();
        isKeyNext = false;
        break;
      case ',':
        if (level !== undefined && 'index' in level) level.index += 1;
        else isKeyNext = true;
        break;
      case '"': {
        const end = endOfString(text, at);
        const kind = takeString(text.slice(at, end + 1), isKeyNext ? level : undefined);
        if (kind !== undefined) return { kind, path: pathOf(levels) };
        isKeyNext = false;
        at = end;
        break;
      }
      default:
    }
  }
  return undefined;
}

/** The place of the closing quote: one before which an even number of backslashes stands. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text[before] === '\\') before -= 1;
  return (at - before) % 2 === 0;
}

/** Takes a string as it is written; as a key of `owner`, where that is given. */
function takeString(written: string, owner: Level | undefined): 'repeated_key' | 'not_plain_text' | undefined {
  // Without an escape it holds what the UTF-8 of the body held, and that is neither NUL nor half a character.
  const text = written.includes('\\') ? String(JSON.parse(written)) : written.slice(1, -1);
  const isRepeated = owner !== undefined && 'keys' in owner && owner.keys.has(text);
  if (owner !== undefined && 'keys' in owner) {
    owner.key = text;
    owner.keys.add(text);
  }
  if (!isPlainText(text)) return 'not_plain_text';
  return isRepeated ? 'repeated_key' : undefined;
}

function pathOf(levels: readonly Level[]): string {
  return fieldPath(levels.map((level) => ('index' in level ? level.index : level.key)));
}
