import { Worker } from 'node:worker_threads';
import { isSystemError, messageOf } from '../../platform/setup-errors-and-error-messages.ts';
import type { VideoReaderRequest, VideoReaderReply } from './run-video-reader.ts';
import { VideoFileError } from './video-file-error.ts';
import { readerFunctions } from './video-reader-functions.ts';

// The process of `runVideoReader`: reads one video after the other, and ends with the process that started it.

const mostReasonCharacters = 300;

/** The limit of the heap does not include pixels and WebAssembly. The largest image takes two thirds of this. */
const maxResidentBytes = 768 * 1024 * 1024;

// A file that makes the library loop keeps this thread from noticing that the channel has closed, and blocked system calls keep the
// process running. Another thread therefore checks that the process that started this one, named by its argument, is still its parent,
// and that no image takes more memory than it claims to need.
const watch = `
  const { parent, maxResidentBytes } = require('node:worker_threads').workerData;
  setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGKILL'), 1000);
  setInterval(() => process.memoryUsage.rss() < maxResidentBytes || process.kill(process.pid, 'SIGABRT'), 50);
`;
const workerData = { parent: Number(process.argv[2]), maxResidentBytes };
const watcher = new Worker(watch, { eval: true, workerData });
// No file causes an error of this thread, so the process ends as for an outage.
watcher.on('error', () => process.exit(1)).unref();

// An error outside of the reading leaves an unknown state, so the file counts as one that crashes its reader, unless the system failed.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack ?? error.message}\n`);
  if (isSystemError(error)) process.exit(1);
  process.abort();
});
process.on('message', (order) => void reply(order as VideoReaderRequest)); // `runVideoReader` sends nothing else

async function reply({ reading, path }: VideoReaderRequest): Promise<void> {
  process.send?.(await replyTo(reading, path));
}

async function replyTo(reading: VideoReaderRequest['reading'], path: string): Promise<VideoReaderReply> {
  try {
    return { value: await readerFunctions[reading](path) };
  } catch (error) {
    if (error instanceof VideoFileError) return { failure: error.message };
    if (isSystemError(error)) return { outage: messageOf(error) };
    // The message of the library may quote the file.
    return { failure: `the file cannot be read as a video: ${String(error).slice(0, mostReasonCharacters)}` };
  }
}
