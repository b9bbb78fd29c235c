/** `registered` answers a sign-up with an address that has an account already. */
export const mailKinds = ['confirm', 'invite', 'reset', 'registered'] as const;
export type MailKind = (typeof mailKinds)[number];

export const mailStates = ['waiting', 'sent', 'failed'] as const;
export type QueuedMailState = (typeof mailStates)[number];

type Words = { readonly subject: string; readonly before: string; readonly after: string };

// Neither names of accounts nor other text of customers is in a mail: a stranger who signs up could advertise with it.
const words: Readonly<Record<MailKind, Words>> = {
  confirm: {
    subject: 'Confirm your e-mail address',
    before: 'Open this link to choose a password and open your account:',
    after: 'If you did not sign up, ignore this e-mail. Nothing happens without the link.',
  },
  invite: {
    subject: 'You are invited',
    before: 'Open this link to accept the invitation:',
    after: 'If you expect no invitation, ignore this e-mail.',
  },
  reset: {
    subject: 'Choose a new password',
    before: 'Open this link to choose a new password. All your sessions end, and your passkeys are removed:',
    after: 'If you did not ask for it, ignore this e-mail. Your password stays as it is.',
  },
  registered: {
    subject: 'You already have an account',
    before: 'A sign-up was requested with this address, which already has an account. Sign in here:',
    after: 'If you forgot your password, ask an operator for a link. If you did not sign up, ignore this e-mail.',
  },
};

export type MailText = { readonly subject: string; readonly text: string };

/** `support` is an address that the signature names. */
export type MailSignature = {
  readonly name: string;
  readonly publicUrl: string;
  readonly support?: string | undefined;
};

/** Writes a mail in plain text. `url` leads to the service. */
export function composeMail(kind: MailKind, service: MailSignature, url: string, expiresAt: number): MailText {
  const { subject, before, after } = words[kind];
  const until = `The link works once, until ${new Date(expiresAt).toISOString().slice(0, 16).replace('T', ' ')} UTC.`;
  const lines = [before, url, ...(kind === 'registered' ? [] : [until]), after, signatureOf(service)];
  return { subject: `${subject} (${service.name})`, text: `${lines.join('\n\n')}\n` };
}

function signatureOf({ name, publicUrl, support }: MailSignature): string {
  const lines = [name, publicUrl, ...(support === undefined ? [] : [`Support: ${support.replace(/^mailto:/, '')}`])];
  return `-- \n${lines.join('\n')}`;
}
