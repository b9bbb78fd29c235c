import { type Config, readConfig } from '../config/config.ts';
import { readRecordedCatalogue } from '../embedded/recorded-catalogue-path.ts';

/**
 * The configuration of the service on this data folder. A service records its catalogue there, so that commands in another shell, without
 * VIDEOGEN_MODELS, use the same one.
 */
export function readConfigWithRecordedCatalogue(options: { readonly isExternal?: boolean } = {}): Config {
  const config = readConfig(undefined, options);
  if (config.catalogueFile !== undefined) return config;
  const recorded = readRecordedCatalogue(config.dataFolder);
  return recorded === undefined ? config : readConfig(undefined, { ...options, standardCatalogue: recorded });
}
