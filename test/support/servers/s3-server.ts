import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { createResultStore, type ResultStore } from '../../../src/media/store/result-store.ts';
import type { S3ClientSettings } from '../../../src/media/store/s3/s3-client-and-errors.ts';
import { createS3Files } from '../../../src/media/store/s3/s3-files.ts';
import { listens } from '../processes/listens.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';

/** The path of versitygw, an S3 server for tests. Without it, tests of buckets are skipped (.ci/run). */
const program = process.env['VIDEOGEN_TEST_S3'];
export const skipsWithoutS3 =
  program === undefined ? 'VIDEOGEN_TEST_S3 names no versitygw, so nothing was tried against a bucket' : false;

const credentials = { accessKeyId: 'videogen-test', secretAccessKey: 'the secret of the tests' };

export type S3Server = Pick<ServerProcess, 'kill' | 'stop' | 'start' | 'restart'> & {
  readonly bucket: string;
  readonly s3: S3ClientSettings & { readonly endpoint: string; readonly credentials: typeof credentials };
  /** The same as variables. */
  readonly environment: Readonly<Record<string, string>>;
  /** The objects of the bucket as files. */
  readonly folder: string;
  close(): Promise<void>;
};

/** Starts an S3 server with one bucket. No file of it may grow beyond `maxFileKilobytes`, as if its disk were full. */
export async function startS3Server({
  maxFileKilobytes,
}: { readonly maxFileKilobytes?: number } = {}): Promise<S3Server> {
  const root = await mkdtemp(join(tmpdir(), 'videogen-s3-'));
  const bucket = 'results';
  const folder = join(root, 'data', bucket);
  // Beside the objects: a file system that stores no attributes of files would do, too.
  const sidecar = join(root, 'sidecar');
  await mkdir(folder, { recursive: true });
  await mkdir(sidecar);
  const port = await reserveFreePort();
  const limit = maxFileKilobytes === undefined ? '' : `ulimit -f ${maxFileKilobytes}; `;
  const listening = ['--quiet', '--keep-alive', '--port', `127.0.0.1:${port}`];
  const args = [...listening, 'posix', '--sidecar', sidecar, join(root, 'data')];
  const server = await startServerProcess({
    name: 'the S3 server',
    start: () =>
      spawn('bash', ['-c', `${limit}exec "$@"`, 'versitygw', program ?? '', ...args], {
        stdio: 'ignore',
        env: {
          ...process.env,
          ROOT_ACCESS_KEY: credentials.accessKeyId,
          ROOT_SECRET_KEY: credentials.secretAccessKey,
        },
      }),
    isReady: async () => (await listens(port)) === true,
  });
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    bucket,
    folder,
    // A busy machine may take seconds to accept a connection.
    s3: { endpoint, credentials, connectMs: 60_000 },
    environment: {
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    kill: server.kill,
    stop: server.stop,
    start: server.start,
    restart: server.restart,
    close: async () => {
      await server.kill();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** The whole bucket as a result store, with links of the tests' own. */
export function createBucketStore({ bucket, s3 }: S3Server): ResultStore {
  const files = createS3Files({ location: { kind: 'bucket', bucket, prefix: '' }, s3 });
  return createResultStore(files, { secret: 's'.repeat(32), publicUrl: 'http://media.test' });
}
