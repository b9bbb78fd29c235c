import { join } from 'node:path';
import type { Config } from '../config.ts';
import { readPort } from '../embedded/persisted-port.ts';
import type { TemporalTarget } from '../temporal/connect.ts';

/** The configured Temporal, else that of the service on this data folder; undefined when it never had one. */
export async function temporalOf({
  temporal,
  dataFolder,
  temporalNamespace,
  payloadKeys,
}: Config): Promise<TemporalTarget | undefined> {
  if (temporal !== undefined) return { ...temporal, payloadKeys };
  const port = await readPort(join(dataFolder, 'temporal', 'port'));
  return port === undefined
    ? undefined
    : { connection: { address: `127.0.0.1:${port}` }, namespace: temporalNamespace, payloadKeys };
}
