import { type FileHandle, open } from 'node:fs/promises';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { maxVideoBytes } from '../../platform/outbound/resumable-download.ts';

/** The beginning of a JSON string that is a data URL. */
const dataUrl = /(?<!\\)"data:(\w{1,50})\\?\/[\w.+-]{1,50};base64,/;
/** Longer than any match, so that one is found across two chunks. */
const maxMatchLength = 200;
const maxTextLength = 16 * 1024 * 1024;

/**
 * Reads a JSON answer of any size: decodes the first video that is a data URL into the file at `path`, and returns the answer
 * without the contents of its data URLs. So a large video is never in memory as a whole.
 */
export async function readJsonAndSaveVideo(chunks: AsyncIterable<Buffer>, path: string): Promise<Buffer> {
  await using file = await open(path, 'w');
  const video = createDecoder(file);
  let inside: 'text' | 'video' | 'other' = 'text';
  let hasVideo = false;
  let text = '';
  // Latin-1 has a character for every byte, and the marks that are searched are ASCII.
  let unread = '';
  for await (const chunk of chunks) {
    unread += chunk.toString('latin1');
    while (unread !== '') {
      if (inside === 'text') {
        const match = dataUrl.exec(unread);
        const end = match === null ? Math.max(0, unread.length - maxMatchLength) : match.index + match[0].length;
        text += unread.slice(0, end);
        if (text.length > maxTextLength)
          throw new OutboundError('too_large', `more than ${maxTextLength} bytes of JSON`);
        unread = unread.slice(end);
        if (match === null) break;
        inside = match[1] === 'video' && !hasVideo ? 'video' : 'other';
        hasVideo ||= inside === 'video';
      }
      const quote = unread.indexOf('"');
      const contents = quote === -1 ? unread : unread.slice(0, quote);
      if (inside === 'video') await video.write(contents);
      unread = unread.slice(contents.length);
      if (quote !== -1) inside = 'text';
    }
  }
  await video.end();
  return Buffer.from(text + unread, 'latin1');
}

/** Four characters of base64 are three bytes, so what is left of a chunk waits for the next. */
function createDecoder(file: FileHandle) {
  let waiting = '';
  let bytes = 0;
  const decode = async (length: number) => {
    const decoded = Buffer.from(waiting.slice(0, length), 'base64');
    waiting = waiting.slice(length);
    bytes += decoded.length;
    if (bytes > maxVideoBytes) throw new OutboundError('too_large', `a video of more than ${maxVideoBytes} bytes`);
    await file.appendFile(decoded);
  };
  return {
    write: async (base64: string) => {
      // Some JSON writes `/` as `\/`.
      waiting += base64.replaceAll('\\', '');
      await decode(waiting.length - (waiting.length % 4));
    },
    end: () => decode(waiting.length),
  };
}
