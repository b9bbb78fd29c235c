import { type Brand, productName } from '../../../../src/platform/brand/brand.ts';

export const defaultBrand: Brand = {
  name: productName,
  logo: undefined,
  accent: undefined,
  support: undefined,
  terms: undefined,
  privacy: undefined,
  buyCredits: undefined,
};
