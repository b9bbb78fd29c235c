export const minPasswordLength = 12;
export const maxPasswordLength = 128;
const minDifferentCharacters = 5;
export const maxEmailLength = 254;

/** Replaces the name and the address of an erased person in records that stay. */
export const erasedUser = 'erased user';

/** The one spelling of an address, since people use any case. */
export function normalEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/** Returns the rule that a new password breaks. No kind of character is required: length is what helps. */
export function explainWeakPassword(
  password: string,
  email: string,
  isCommon: (password: string) => boolean,
): string | undefined {
  const length = [...password].length;
  if (length < minPasswordLength || length > maxPasswordLength)
    return `must be ${minPasswordLength} to ${maxPasswordLength} characters`;
  if (new Set(password.toLowerCase()).size < minDifferentCharacters)
    return `must have at least ${minDifferentCharacters} different characters`;
  const bare = lettersOf(password);
  const names = [email, email.slice(0, email.lastIndexOf('@')), 'videogen'].map(lettersOf);
  if (bare !== '' && names.some((name) => name !== '' && bare.replaceAll(name, '') === ''))
    return 'must not be made of the e-mail or the name of this service';
  return isCommon(password.toLowerCase()) ? 'is too common; choose another' : undefined;
}

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}]/gu, '');
}
