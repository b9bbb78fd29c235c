import { constants, copyFile, type FileHandle, open } from 'node:fs/promises';
import { type Box, readAt } from './mp4-boxes.ts';
import { videoLayoutOf, xmpType } from './mp4-top-level-boxes.ts';

/** The code of IPTC for media that a trained model made. */
export const aiSourceType = 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia';

/** `service` is the name that the service has for its customers. */
export type VideoMark = { readonly taskId: string; readonly model: string; readonly service: string };

/**
 * Writes into a video that a model made it, as XMP behind its last box, so that nothing in front of it moves. Returns the path of the
 * marked video: `targetPath`, or `path` for a video that is marked already. The file at `path` changes only if both are the same.
 */
export async function labelAsGenerated(path: string, targetPath: string, mark: VideoMark): Promise<string> {
  const { xmp, last, isWhole } = await videoLayoutOf(path);
  if (!isWhole || last === undefined) throw new Error('only a video of whole boxes can be marked');
  if (xmp !== undefined && (await contentOf(path, xmp)).includes(aiSourceType)) return path;
  if (path !== targetPath) await copyFile(path, targetPath, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await using file = await open(targetPath, 'r+');
  // A file has one XMP packet, and that of an upstream may hold its notes.
  if (xmp !== undefined) await blank(file, xmp);
  await endBox(file, last);
  await file.write(xmpBox(mark), 0, undefined, last.to);
  return targetPath;
}

/** A longer packet is not read to its end. */
const maxXmpBytes = 1024 * 1024;

async function contentOf(path: string, { from, to }: Box): Promise<string> {
  await using handle = await open(path);
  return (await readAt({ handle }, from, Math.min(to - from, maxXmpBytes))).toString('utf8');
}

async function blank(file: FileHandle, { at, from, to }: Box): Promise<void> {
  await file.write(Buffer.from('free', 'latin1'), 0, 4, at + 4);
  const zeros = Buffer.alloc(64 * 1024);
  for (let offset = from; offset < to; offset += zeros.length)
    await file.write(zeros, 0, Math.min(zeros.length, to - offset), offset);
}

/** The size zero means up to the end of the file, which another box now follows. */
async function endBox(file: FileHandle, { at, to }: Box): Promise<void> {
  const { buffer } = await file.read(Buffer.alloc(4), 0, 4, at);
  if (buffer.readUInt32BE(0) !== 0) return;
  // Videos have a gigabyte at most.
  buffer.writeUInt32BE(to - at);
  await file.write(buffer, 0, 4, at);
}

function xmpBox(mark: VideoMark): Buffer {
  const content = Buffer.concat([Buffer.from(xmpType, 'hex'), Buffer.from(xmpPacket(mark))]);
  const header = Buffer.alloc(8, 'uuiduuid', 'latin1');
  header.writeUInt32BE(header.length + content.length);
  return Buffer.concat([header, content]);
}

function xmpPacket({ taskId, model, service }: VideoMark): string {
  return `<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about=""
 xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:xmp="http://ns.adobe.com/xap/1.0/"
 xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
 dc:identifier="urn:uuid:${escaped(taskId)}"
 xmp:CreatorTool="${escaped(service)}"
 Iptc4xmpExt:AISystemUsed="${escaped(model)}"
 Iptc4xmpExt:DigitalSourceType="${aiSourceType}"/>
</rdf:RDF>
</x:xmpmeta>
<?xpacket end="r"?>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
