import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/embedded/persisted-port.ts';
import { createResultStore, type ResultStore } from '../../src/media/result-store.ts';
import type { S3Settings } from '../../src/media/s3-client.ts';
import { createS3Files } from '../../src/media/s3-files.ts';
import { listens } from './listens.ts';
import { waitFor } from './wait-for.ts';

/** The path of versitygw, an S3 server for tests. Without it, tests of buckets are skipped (.ci/run). */
const program = process.env['VIDEOGEN_TEST_S3'];
/** For the options of a test. */
export const skipsWithoutS3 =
  program === undefined ? 'VIDEOGEN_TEST_S3 names no versitygw, so nothing was tried against a bucket' : false;

const credentials = { accessKeyId: 'videogen-test', secretAccessKey: 'the secret of the tests' };

export type S3Server = {
  readonly bucket: string;
  /** What reaches it, and is let in. */
  readonly s3: S3Settings & { readonly endpoint: string; readonly credentials: typeof credentials };
  /** The same as variables. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where the server has the objects of its bucket as files. */
  readonly folder: string;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** Asks it to end, which it does when its requests are answered. */
  stop(): Promise<void>;
  /** On the same port, with what was stored. */
  restart(): Promise<void>;
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
  const port = await freePort();
  let child: ChildProcess | undefined;
  const start = async () => {
    const limit = maxFileKilobytes === undefined ? '' : `ulimit -f ${maxFileKilobytes}; `;
    const args = [
      '--quiet',
      '--keep-alive',
      '--port',
      `127.0.0.1:${port}`,
      'posix',
      '--sidecar',
      sidecar,
      join(root, 'data'),
    ];
    child = spawn('bash', ['-c', `${limit}exec "$@"`, 'versitygw', program ?? '', ...args], {
      stdio: 'ignore',
      env: {
        ...process.env,
        ROOT_ACCESS_KEY: credentials.accessKeyId,
        ROOT_SECRET_KEY: credentials.secretAccessKey,
      },
    });
    const started = child;
    await waitFor('the S3 server', () => {
      if (started.exitCode !== null) throw new Error(`the S3 server ended with ${started.exitCode}`);
      return listens(port);
    });
  };
  const end = async (signal: NodeJS.Signals) => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  const kill = () => end('SIGKILL');
  await start();
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    bucket,
    folder,
    s3: { endpoint, credentials },
    environment: {
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    kill,
    stop: () => end('SIGTERM'),
    restart: start,
    close: async () => {
      await kill();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** The whole bucket as a result store, with links of the tests' own. */
export function createBucketStore({ bucket, s3 }: S3Server): ResultStore {
  const files = createS3Files({ location: { kind: 'bucket', bucket, prefix: '' }, s3 });
  return createResultStore(files, { secret: 's'.repeat(32), publicUrl: 'http://media.test' });
}
