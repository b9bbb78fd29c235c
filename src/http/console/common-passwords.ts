/** Whether it is among the passwords that are tried first; in lower case. */
export function isCommonPassword(password: string): boolean {
  return common.has(password);
}

const common = new Set(['passwordpassword', '123456789012', '1234567890123']);
