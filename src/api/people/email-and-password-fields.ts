import { z } from 'zod';
import { maxEmailLength, maxPasswordLength, normalEmail } from '../../accounts/people/email-and-password-format.ts';
import { requiredOrInvalidMessage } from '../core/request-fields.ts';

export const emailField = z
  .string({ error: requiredOrInvalidMessage('must be an e-mail address') })
  .max(maxEmailLength, { error: 'must be an e-mail address' })
  .transform(normalEmail)
  .pipe(z.email({ error: 'must be an e-mail address' }));

/** Any text. The rules for new passwords do not apply to one that is entered. */
export const passwordField = z
  .string({ error: requiredOrInvalidMessage('must be a text') })
  // This counts code points, as the rule for new passwords does.
  .max(maxPasswordLength, { error: `must be at most ${maxPasswordLength} characters` });
