import type { Context } from '../core/request-context-and-responses.ts';

/** The header that names the fields of a create that changed nothing, so that no field is dropped silently. */
const header = 'Unused-Fields';

export const unusedFieldsHeaderDoc = {
  [header]: 'Paths of fields of this API that change nothing here, separated by commas; absent without any.',
};

const maxNames = 20;

export function setUnusedHeader(ctx: Pick<Context, 'set'>, paths: readonly string[] = []): void {
  if (paths.length > 0) ctx.set(header, paths.slice(0, maxNames).map(printable).join(', '));
}

/** A header holds ASCII only. */
function printable(path: string): string {
  return path.slice(0, 64).replaceAll(/[^\x21-\x2b\x2d-\x7e]/g, '?');
}
