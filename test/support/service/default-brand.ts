import { type Brand, ownName } from '../../../src/platform/brand/brand.ts';

export const defaultBrand: Brand = {
  name: ownName,
  logo: undefined,
  accent: undefined,
  support: undefined,
  terms: undefined,
  privacy: undefined,
  buyCredits: undefined,
};
