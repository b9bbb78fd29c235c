/** A lower-case UUID, as the source of a regular expression. */
export const uuidPattern = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

const whole = new RegExp(`^${uuidPattern}$`);

export function isLowerCaseUuid(text: string): boolean {
  return whole.test(text);
}
