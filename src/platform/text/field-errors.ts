/** `path` is like `input.imageUrls[2]`, or empty for the whole body; `message` states what is allowed. */
export type FieldError = { readonly path: string; readonly message: string };

export const maxFieldErrors = 50;

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

/** A wrong type breaks several rules of a field; the first error is enough. */
export function firstOfEachPath(errors: readonly FieldError[]): readonly FieldError[] {
  return [...new Map(errors.toReversed().map((error) => [error.path, error])).values()].toReversed();
}
