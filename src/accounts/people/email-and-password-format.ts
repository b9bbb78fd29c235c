export const minPasswordLength = 12;
export const maxPasswordLength = 128;
export const maxEmailLength = 254;

/** The one spelling of an address, since people use any case. */
export function normalEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}
