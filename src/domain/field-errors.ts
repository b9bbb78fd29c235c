/** One broken rule: where (`input.imageUrls[2]`, or `` for the whole body) and what is allowed there. */
export type FieldError = { readonly path: string; readonly message: string };

/** A request never gets more faults back than this, however many it has. */
export const maxFieldErrors = 50;

/** The fault as one sentence: "input.prompt: is required". */
export function describeFieldError(error: FieldError): string {
  return error.path === '' ? error.message : `${error.path}: ${error.message}`;
}

/** `['input', 'imageUrls', 2]` → `input.imageUrls[2]`. A field name longer than 64 characters is cut. */
export function fieldPath(segments: readonly PropertyKey[]): string {
  return segments.reduce<string>((path, segment) => {
    if (typeof segment === 'number') return `${path}[${segment}]`;
    const name = shortName(String(segment));
    return path === '' ? name : `${path}.${name}`;
  }, '');
}

function shortName(name: string): string {
  return name.length <= 64 ? name : `${name.slice(0, 64)}…`;
}

/** A string in place of an array also breaks the array's rule of length; the first fault of a field says it all. */
export function firstOfEachPath(errors: readonly FieldError[]): readonly FieldError[] {
  return [...new Map(errors.toReversed().map((error) => [error.path, error])).values()].toReversed();
}
