import { z } from 'zod';
import { declareSetting, parsedBy, wholeNumber } from './setting-kinds.ts';

const signUpMode = z.enum(['off', 'open', 'code', 'domain'], { error: 'must be off, open, code or domain' });

const emailDomains = parsedBy((text): readonly string[] => {
  const domains = text.split(',').map((domain) => domain.trim().toLowerCase());
  if (domains.every((domain) => /^(?=.{1,253}$)[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+$/u.test(domain))) return domains;
  throw new Error('must be domains such as example.com, separated by commas');
});

const mailSender = z.string().regex(/^(?:[^<>@\p{Cc}]{1,100}<[^\s<>@,;]+@[^\s<>@,;]+>|[^\s<>@,;]+@[^\s<>@,;]+)$/u, {
  error: 'must be an address such as no-reply@example.com, or Example <no-reply@example.com>',
});

const smtpUrl = z
  .url({ protocol: /^smtps?$/, error: 'must be smtp://… or smtps://…' })
  .refine(isDecodable, { error: 'must have a percent-encoded password' });

function isDecodable(url: string): boolean {
  try {
    const { username, password } = new URL(url);
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

export const signUpAndMailFields = {
  signUp: declareSetting('SIGN_UP', signUpMode, 'off'),
  signUpDomains: declareSetting('SIGN_UP_DOMAINS', emailDomains),
  signUpCredits: declareSetting('SIGN_UP_CREDITS', wholeNumber(0, 999_999_999), '0'),
  signUpLimit: declareSetting('SIGN_UP_LIMIT', wholeNumber(1, 100_000), '100'),
  signUpLimitPerAddress: declareSetting('SIGN_UP_LIMIT_PER_ADDRESS', wholeNumber(1, 100_000), '5'),
  smtpUrl: declareSetting('SMTP_URL', smtpUrl),
  smtpFrom: declareSetting('SMTP_FROM', mailSender),
};

type Given = z.output<z.ZodObject<typeof signUpAndMailFields>>;

export function signUpAndMailProblems({ signUp, signUpDomains, smtpUrl: url, smtpFrom }: Given): readonly string[] {
  return [
    ...((url === undefined) === (smtpFrom === undefined) ? [] : ['SMTP_URL, SMTP_FROM: set both or neither']),
    ...((signUp === 'domain') === (signUpDomains !== undefined)
      ? []
      : ['SIGN_UP_DOMAINS: must be set if SIGN_UP is domain, and only then']),
  ];
}

export function signUpAndMailSettings(given: Given) {
  const { smtpUrl: url, smtpFrom } = given;
  return {
    signUp: {
      mode: given.signUp,
      domains: given.signUpDomains ?? [],
      credits: given.signUpCredits,
      hourlyLimit: given.signUpLimit,
      hourlyLimitPerAddress: given.signUpLimitPerAddress,
    },
    smtp: url === undefined || smtpFrom === undefined ? undefined : { url, from: smtpFrom },
  };
}
