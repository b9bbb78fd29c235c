export type Values = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The texts in a value that is one or a list of them. */
export function textsOf(value: unknown): readonly string[] {
  return [value].flat().filter((one): one is string => typeof one === 'string' && one !== '');
}
