import { readFileSync } from 'node:fs';

let common: ReadonlySet<string> | undefined;

/**
 * Whether it is among the passwords that are tried first; in lower case. The file holds what is long enough for us of the 49,233
 * commonest ones that zxcvbn-ts (MIT) knows.
 */
export function isCommonPassword(password: string): boolean {
  common ??= new Set(readFileSync(new URL(import.meta.resolve('#assets/common-passwords.txt')), 'utf8').split('\n'));
  return common.has(password);
}
