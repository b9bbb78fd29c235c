import { formatNumber } from '../../ui/number-formats.tsx';

/** Every text about the loaded catalogue. */
export const catalogueText = {
  lead: 'The loaded models, with their catalogue prices and providers. Secrets are never shown.',
  file: 'File',
  builtIn: 'Built-in catalogue',
  version: 'Version',
  loaded: 'Loaded',
  refused: 'The catalogue file is invalid. The version below stays active.',
  refusedAt: 'Rejected',
  workerRefusals: 'Workers rejected the catalogue',
  models: 'Models',
  model: 'Model',
  from: 'from',
  prices: 'Prices',
  providers: 'Providers',
  deadline: 'Deadline',
  provider: 'Provider',
  kind: 'Kind',
  address: 'Address',
  own: 'on our workers',
  notSold: 'No active worker can generate it',
  tier: (tier: number) => `${tier}.`,
  upTo: (limit: number) => `up to ${formatNumber(limit)} at a time`,
} as const;
