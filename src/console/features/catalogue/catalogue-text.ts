import { number } from '../../ui/money.tsx';

/** Every text about the loaded catalogue. */
export const catalogueText = {
  lead: 'The models for sale, their prices in the file and their providers. Secrets are never shown.',
  file: 'File',
  builtIn: 'Built-in catalogue',
  version: 'Version',
  loaded: 'Loaded',
  refused: 'The file on disk was refused; the version below stays in force',
  refusedAt: 'Refused',
  workerRefusals: 'Workers refused the catalogue',
  models: 'Models',
  model: 'Model',
  prices: 'Prices',
  providers: 'Providers',
  deadline: 'Deadline',
  provider: 'Provider',
  kind: 'Kind',
  address: 'Address',
  own: 'on our workers',
  notSold: 'No live worker can generate it',
  tier: (tier: number) => `${tier}.`,
  upTo: (limit: number) => `up to ${number(limit)} at a time`,
} as const;
