import type { Command } from 'commander';
import { type Config, readConfig } from '../config/config.ts';
import { readAddress } from '../embedded/data-folder.ts';
import { CommandError, invocation } from './output.ts';

export type ServiceOptions = { readonly baseUrl?: string; readonly key?: string };

/** Options of commands that call a running service. */
export function addServiceOptions(command: Command): Command {
  return command
    .option(
      '--base-url <url>',
      'address of the service; by default VIDEOGEN_BASE_URL, else PUBLIC_URL, else that of the service on VIDEOGEN_DATA, else ' +
        'http://HOST:PORT',
    )
    .option('--key <key>', 'API key; by default VIDEOGEN_API_KEY');
}

export async function readServiceOptions(given: ServiceOptions): Promise<Required<ServiceOptions>> {
  const config = readConfig();
  const key = given.key ?? config.apiKey;
  if (key === undefined) throw new CommandError(`no API key: set --key or VIDEOGEN_API_KEY. ${keyHint()}`);
  return { key, baseUrl: given.baseUrl ?? config.serviceUrl ?? (await publicUrlOf(config)) };
}

/** The address of the service: PUBLIC_URL, else that of the service on VIDEOGEN_DATA, else http://HOST:PORT. */
export async function publicUrlOf({ publicUrl, dataFolder, host, port }: Config): Promise<string> {
  return publicUrl ?? (await readAddress(dataFolder)) ?? `http://${host}:${port}`;
}

export function keyHint(): string {
  return `To create a key, see "${invocation('key', 'create', '--help')}" on the machine of the service.`;
}
