import { loadClientConnectConfig } from '@temporalio/envconfig';
import { readFileSync } from 'node:fs';
import { messageOf } from '../../platform/setup-errors-and-error-messages.ts';
import type { TemporalTarget } from '../../temporal/connection/connect.ts';

type Variables = Record<string, string>;

/** Reads Temporal's own variables (address, namespace, API key, TLS files) with Temporal's library. */
export function temporalSettings(overrideEnvVars: Variables) {
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig({ overrideEnvVars, disableFile: true });
  const target: TemporalTarget = { connection: connectionOptions, namespace };
  const isEmbedded = overrideEnvVars['TEMPORAL_ADDRESS'] === undefined;
  return { temporal: isEmbedded ? undefined : target, temporalNamespace: namespace };
}

const prefix = 'TEMPORAL_TLS_';

/** Returns invalid variables with their names; the library would ignore some of them. */
export function temporalProblems(env: Variables): readonly string[] {
  const isGiven = (name: string) => [`${name}_PATH`, `${name}_DATA`].some((one) => env[prefix + one] !== undefined);
  const isHalf = isGiven('CLIENT_CERT') !== isGiven('CLIENT_KEY');
  const isUnchecked = /^(1|true)$/i.test(env[`${prefix}DISABLE_HOST_VERIFICATION`] ?? '');
  const address = env['TEMPORAL_ADDRESS'];
  const known = [
    ...(address === undefined || isAddress(address)
      ? []
      : ['TEMPORAL_ADDRESS: must be a host and a port, such as temporal:7233, without http://']),
    ...['CLIENT_CERT_PATH', 'CLIENT_KEY_PATH', 'SERVER_CA_CERT_PATH'].flatMap((name) => unreadable(name, env)),
    ...(isHalf ? [`${prefix}CLIENT_CERT_PATH: a client certificate and its key must be set together, or neither`] : []),
    ...(isUnchecked ? [`${prefix}DISABLE_HOST_VERIFICATION: has no effect; set ${prefix}SERVER_NAME instead`] : []),
  ];
  return known.length > 0 ? known : libraryProblems(env);
}

/** `[::1]:7233` is an address, too. */
function isAddress(text: string): boolean {
  const match = /^(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::(\d{1,5}))?$/.exec(text);
  const port = Number(match?.[1] ?? 7233);
  return match !== null && port >= 1 && port <= 65_535;
}

function unreadable(name: string, env: Variables): string[] {
  const path = env[prefix + name];
  try {
    if (path !== undefined) readFileSync(path);
    return [];
  } catch (error) {
    return [`${prefix}${name}: ${messageOf(error)}`];
  }
}

/** Returns errors of the library, for example if a certificate is given both as a path and as text. */
function libraryProblems(env: Variables): string[] {
  try {
    temporalSettings(env);
    return [];
  } catch (error) {
    return [`TEMPORAL_…: ${messageOf(error)}`];
  }
}
