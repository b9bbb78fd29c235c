import { z } from 'zod';
import { parseAccentIntoShades } from '../../platform/brand/accent.ts';
import { type Brand, productName } from '../../platform/brand/brand.ts';
import { readLogo } from '../../platform/brand/logo.ts';
import { declareSetting, httpUrl, parsedBy } from './setting-kinds.ts';

const brandName = z.string().regex(/^(?! )[^\p{C}<>"{}]{1,60}(?<! )$/u, {
  error: 'must be 1 to 60 characters on one line, without <, >, ", { and }',
});

const supportAddress = parsedBy((text) => {
  if (z.email().safeParse(text).success) return `mailto:${text}`;
  if (httpUrl.safeParse(text).success) return text;
  throw new Error('must be an e-mail address, or an http or https URL');
});

export const brandFields = {
  brandName: declareSetting('BRAND_NAME', brandName, productName),
  brandLogo: declareSetting('BRAND_LOGO', parsedBy(readLogo)),
  brandAccent: declareSetting('BRAND_ACCENT', parsedBy(parseAccentIntoShades)),
  brandSupport: declareSetting('BRAND_SUPPORT', supportAddress),
  brandTerms: declareSetting('BRAND_TERMS_URL', httpUrl),
  brandPrivacy: declareSetting('BRAND_PRIVACY_URL', httpUrl),
  brandBuyCredits: declareSetting('BRAND_BUY_CREDITS_URL', httpUrl),
};

export function brandFromSettings(given: z.output<z.ZodObject<typeof brandFields>>): { readonly brand: Brand } {
  return {
    brand: {
      name: given.brandName,
      logo: given.brandLogo,
      accent: given.brandAccent,
      support: given.brandSupport,
      terms: given.brandTerms,
      privacy: given.brandPrivacy,
      buyCredits: given.brandBuyCredits,
    },
  };
}
