import type { UploadKind } from '../../../media/references/upload-limits-and-addresses.ts';

export type InputValues = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is InputValues {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The texts in a value that is one or a list of them. */
export function nonEmptyStringsOf(value: unknown): readonly string[] {
  return [value].flat().filter((one): one is string => typeof one === 'string' && one !== '');
}

// Parts of the JSON Schema of a field.

const mediaKinds: readonly UploadKind[] = ['image', 'video', 'audio'];

/** The kind of the file or files that a field takes; undefined for a field that takes something else. */
export function mediaKindOf({ type, items, contentMediaType }: InputValues): UploadKind | undefined {
  const mediaType = type === 'array' && isObject(items) ? items['contentMediaType'] : contentMediaType;
  return mediaKinds.find((kind) => typeof mediaType === 'string' && mediaType.startsWith(`${kind}/`));
}

/** The duration takes fractions, which are rounded: half a second below the least whole number is its bound. */
export function boundsOf({ minimum, maximum, exclusiveMaximum }: InputValues) {
  const isRounded = typeof exclusiveMaximum === 'number';
  const least = typeof minimum === 'number' ? minimum : undefined;
  const most = typeof maximum === 'number' ? maximum : undefined;
  return {
    isRounded,
    min: isRounded && least !== undefined ? Math.ceil(least) : least,
    max: isRounded ? Math.ceil(exclusiveMaximum) - 1 : most,
  };
}
