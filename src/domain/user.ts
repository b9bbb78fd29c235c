export const minPasswordLength = 12;
export const maxPasswordLength = 128;
const minDifferentCharacters = 5;
export const maxEmailLength = 254;

/** Replaces the name and the address of an erased person in records that stay. */
export const erasedUser = 'erased user';

/** One spelling of each address: people write theirs in any case. */
export function normalEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/**
 * Why somebody may not have this password, or undefined. Any characters are allowed and all of them count; what helps is length,
 * and that nobody guesses it first.
 */
export function passwordFault(
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
  return isCommon(password.toLowerCase()) ? 'is one of the passwords that are tried first; choose another' : undefined;
}

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}]/gu, '');
}
