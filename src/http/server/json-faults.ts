import { visit } from 'jsonc-parser';
import { fieldPath } from '../../domain/field-errors.ts';
import { isPlainText } from '../../domain/task-input.ts';

/** What no request may bring, although `JSON.parse` takes it; `path` names the place (`input.prompt`). */
export type JsonFault =
  | { readonly kind: 'repeated_key' | 'not_plain_text'; readonly path: string }
  | { readonly kind: 'too_deep' };

/** Far above what any request of ours needs. */
export const maxJsonDepth = 32;

/**
 * The first fault of a text that `JSON.parse` has taken. Of equal keys `JSON.parse` takes the last, where another reader of the
 * request may have taken the first.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  let fault: JsonFault | undefined;
  /** The only way to leave the text, which may be nested deeper than the stack. */
  const leave = (found: JsonFault): never => {
    fault = found;
    throw new Error(found.kind);
  };
  /** Of every object or array around the place. */
  const keys: Set<string>[] = [];
  const open = () => {
    if (keys.push(new Set()) > maxJsonDepth) leave({ kind: 'too_deep' });
  };
  const close = () => void keys.pop();
  try {
    visit(text, {
      onObjectBegin: open,
      onArrayBegin: open,
      onObjectEnd: close,
      onArrayEnd: close,
      onObjectProperty: (key, _offset, _length, _line, _column, path) => {
        const kind = !isPlainText(key) ? 'not_plain_text' : keys.at(-1)?.has(key) === true ? 'repeated_key' : undefined;
        if (kind !== undefined) leave({ kind, path: fieldPath([...path(), key]) });
        keys.at(-1)?.add(key);
      },
      onLiteralValue: (value, _offset, _length, _line, _column, path) => {
        if (typeof value === 'string' && !isPlainText(value))
          leave({ kind: 'not_plain_text', path: fieldPath(path()) });
      },
    });
  } catch (error) {
    if (fault === undefined) throw error;
  }
  return fault;
}
