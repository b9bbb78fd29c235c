import type { Command } from 'commander';
import { type Config, readConfig } from '../../config/config.ts';
import { readServiceUrl } from '../../embedded/data-folder-lock-and-files.ts';
import { CommandError, commandLineAsTyped } from '../command-output-and-errors.ts';

export type ServiceOptions = { readonly baseUrl?: string; readonly key?: string };

/** Clients and operators have keys of their own, each in its variable. */
const keys = {
  client: {
    setting: 'apiKey',
    what: 'API key',
    variable: 'VIDEOGEN_API_KEY',
    hint: () =>
      `To create a key, see "${commandLineAsTyped('key', 'create', '--help')}" on the machine of the service.`,
  },
  operator: {
    setting: 'operatorKey',
    what: "operator's key",
    variable: 'VIDEOGEN_OPERATOR_KEY',
    hint: () =>
      `To create one, run this on the machine of the service: ${commandLineAsTyped('operator', 'create', 'NAME')}`,
  },
} as const;
export type KeyHolderKind = keyof typeof keys;

export function addServiceOptions(command: Command, keyDefault: string = keys.client.variable): Command {
  return command
    .option(
      '--base-url <url>',
      'address of the service; by default VIDEOGEN_BASE_URL, else PUBLIC_URL, else that of the service on VIDEOGEN_DATA, else ' +
        'http://HOST:PORT',
    )
    .option('--key <key>', `key; by default ${keyDefault}`);
}

export async function readServiceOptions(
  given: ServiceOptions,
  keyOf: KeyHolderKind = 'client',
): Promise<Required<ServiceOptions>> {
  const config = readConfig();
  const { setting, what, variable, hint } = keys[keyOf];
  const key = given.key ?? config[setting];
  if (key === undefined) throw new CommandError(`no ${what}: set --key or ${variable}. ${hint()}`);
  return { key, baseUrl: given.baseUrl ?? config.serviceUrl ?? (await publicUrlOf(config)) };
}

/** The address of the service: PUBLIC_URL, else that of the service on VIDEOGEN_DATA, else http://HOST:PORT. */
export async function publicUrlOf({ publicUrl, dataFolder, host, port }: Config): Promise<string> {
  return publicUrl ?? (await readServiceUrl(dataFolder)) ?? `http://${host}:${port}`;
}

export function keyHint(keyOf: KeyHolderKind = 'client'): string {
  return keys[keyOf].hint();
}

export function startHint(): string {
  return `Is the service running? ${commandLineAsTyped('start')} runs one here.`;
}
