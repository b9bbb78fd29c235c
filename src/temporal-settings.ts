import { loadClientConnectConfig } from '@temporalio/envconfig';
import { readFileSync } from 'node:fs';
import { messageOf } from './domain/errors.ts';
import type { TemporalTarget } from './temporal/connect.ts';

/** Every variable that is set, and not empty. */
type Variables = Record<string, string>;

/** Temporal's own variables, read by Temporal's own library (addresses, namespace, API key, TLS files). */
export function temporalSettings(overrideEnvVars: Variables) {
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig({ overrideEnvVars, disableFile: true });
  const target: TemporalTarget = { connection: connectionOptions, namespace };
  const isEmbedded = overrideEnvVars['TEMPORAL_ADDRESS'] === undefined;
  return { temporal: isEmbedded ? undefined : target, temporalNamespace: namespace };
}

const prefix = 'TEMPORAL_TLS_';

/** Faults by the names of their variables; some of them the library would pass over in silence. */
export function temporalFaults(env: Variables): readonly string[] {
  const isGiven = (name: string) => [`${name}_PATH`, `${name}_DATA`].some((one) => env[prefix + one] !== undefined);
  const isHalf = isGiven('CLIENT_CERT') !== isGiven('CLIENT_KEY');
  const isUnchecked = /^(1|true)$/i.test(env[`${prefix}DISABLE_HOST_VERIFICATION`] ?? '');
  const known = [
    ...['CLIENT_CERT_PATH', 'CLIENT_KEY_PATH', 'SERVER_CA_CERT_PATH'].flatMap((name) => readFault(name, env)),
    ...(isHalf ? [`${prefix}CLIENT_CERT_PATH: a client certificate and its key must be set together, or neither`] : []),
    ...(isUnchecked ? [`${prefix}DISABLE_HOST_VERIFICATION: has no effect; set ${prefix}SERVER_NAME instead`] : []),
  ];
  return known.length > 0 ? known : otherFaults(env);
}

function readFault(name: string, env: Variables): string[] {
  const path = env[prefix + name];
  try {
    if (path !== undefined) readFileSync(path);
    return [];
  } catch (error) {
    return [`${prefix}${name}: ${messageOf(error)}`];
  }
}

/** What the library itself refuses, such as a certificate that is given as a path and as a text. */
function otherFaults(env: Variables): string[] {
  try {
    temporalSettings(env);
    return [];
  } catch (error) {
    return [`TEMPORAL_…: ${messageOf(error)}`];
  }
}
