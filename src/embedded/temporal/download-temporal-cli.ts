import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { byteProgress } from './byte-progress.ts';
import { extractFromZip } from './extract-from-zip.ts';
import { installTemporalCli } from './install-temporal-cli.ts';

export type TemporalCliDownload = {
  readonly version: string;
  readonly target: string;
  readonly log: (message: string) => void;
  readonly address: string | undefined;
};

/** A network without a way out often swallows packets instead of refusing, so the first answer gets a short time. */
const firstAnswerMs = 5_000;
const wholeDownloadMs = 5 * 60_000;
const maxBytes = 500 * 1024 * 1024;

/** Temporal's own download service, the one its SDKs use: it answers where the archive is and which file in it to take. */
export async function downloadTemporalCli({ version, target, log, address }: TemporalCliDownload): Promise<void> {
  const about = await archiveAbout(address ?? 'https://temporal.download', version);
  const draft = `${target}.${randomBytes(6).toString('hex')}.new`;
  const archive = `${draft}.zip`;
  try {
    await save(about.archiveUrl, archive, log);
    await extractFromZip(archive, (name) => name === about.fileToExtract, draft);
    await installTemporalCli(draft, target, version);
  } finally {
    await rm(archive, { force: true });
    await rm(draft, { force: true });
  }
}

type Archive = { readonly archiveUrl: string; readonly fileToExtract: string };

async function archiveAbout(address: string, version: string): Promise<Archive> {
  const platform = process.platform === 'darwin' ? 'darwin' : 'linux';
  const arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const url = `${address}/cli/v${version}?platform=${platform}&arch=${arch}&format=zip`;
  const response = await ask(url, AbortSignal.timeout(firstAnswerMs));
  const about: unknown = await response.json();
  const known =
    typeof about === 'object' && about !== null && 'archiveUrl' in about && 'fileToExtract' in about
      ? about
      : undefined;
  if (typeof known?.archiveUrl !== 'string' || typeof known.fileToExtract !== 'string') {
    throw new Error("Temporal's download service answered something unknown");
  }
  return { archiveUrl: known.archiveUrl, fileToExtract: known.fileToExtract };
}

async function ask(url: string, signal: AbortSignal): Promise<Response> {
  try {
    const response = await fetch(url, { signal });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    return response;
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new Error(`Temporal's download service is out of reach (${reason})`, { cause: error });
  }
}

async function save(url: string, path: string, log: (message: string) => void): Promise<void> {
  const response = await ask(url, AbortSignal.timeout(wholeDownloadMs));
  if (response.body === null) throw new Error("Temporal's download service sent nothing");
  const progress = byteProgress(Number(response.headers.get('content-length')), log);
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = progress(chunk.length);
      done(bytes > maxBytes ? new Error('the download is larger than any release') : null, chunk);
    },
  });
  const body = Readable.fromWeb(response.body);
  await pipeline(body, counted, createWriteStream(path, { mode: 0o600 }));
}
