import { resolveCatalogue } from '../../../src/catalogue/file/resolve-catalogue.ts';
import { fieldPath } from '../../../src/platform/text/field-errors.ts';

/** The input of a model with much to choose, and of one with less. */
export const input = {
  resolution: { values: ['480p', '720p', '1080p'] },
  duration: { min: 4, max: 15 },
  ratio: { values: ['16:9'] },
  generateAudio: {},
  imageUrls: { max: 9 },
  firstFrameUrl: {},
  lastFrameUrl: { requires: 'firstFrameUrl' },
  videoUrls: { max: 3 },
  options: {
    tier: { type: 'string', values: ['std', 'pro'], default: 'std' },
    fast: { type: 'boolean' },
    steps: { type: 'integer', min: 1, max: 50 },
    note: { type: 'string' },
  },
  exclusive: [['imageUrls', 'firstFrameUrl']],
};
export const silentInput = { ...input, generateAudio: { fixed: false }, imageUrls: { max: 0 }, videoUrls: undefined };

/** A price for every input. */
export const last = { creditsPerSecond: 10 };

export type Table = readonly object[];

/** The prices that a model of the catalogue gets, or what is invalid in them. */
export function resolve(prices: Table, of: object = input) {
  const model = { model: 'm', title: 'M', input: of, prices, providers: ['box'] };
  const providers = { box: { kind: 'own', baseUrl: 'http://upstream.example' } };
  const used = JSON.parse(JSON.stringify({ providers, models: [model] })) as unknown;
  const { catalogue, problems: found } = resolveCatalogue(used);
  const problems = found.map(({ path, message }) => `${fieldPath(path.slice(2))}: ${message}`);
  return { prices: catalogue?.models.get('m')?.prices, problems };
}
