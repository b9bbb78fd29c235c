import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import type { ProviderClient, ProviderClientOptions } from '../../src/platform/outbound/provider-client.ts';
import type { PolledProvider } from '../../src/providers/provider-contract.ts';
import { noMedia, type PreparedMediaByRole } from '../../src/catalogue/media/media-by-role.ts';
import { withDefaults } from '../../src/catalogue/input/task-input.ts';
import { catalogueOf, type Kind, upstreamKey } from '../fakes/provider-kinds.ts';
import { jobRequest, signal } from '../providers/contract/job-request.ts';
import { localClient } from '../providers/loopback-client.ts';
import { catalogueFrom, openProviders } from '../providers/open-providers-stage.ts';
import type { CorpusFile } from './corpus-table.ts';

// What an upstream of each kind receives of a file: inside its requests, or behind the links in them.

/** `type` is the declared one; undefined for bare base64 and for links. */
type Received = { readonly bytes: Buffer; readonly type: string | undefined };

/** A file as providers get it, with what it was made of. */
export type TakenFile = { readonly name: string; readonly kind: CorpusFile['kind']; readonly path: string };

type Body = { readonly contentType: string; readonly bytes: string | Uint8Array };

/** Every picture has the place of a reference, and so have clips. */
const workflow = {
  '1': { class_type: 'CLIPTextEncode', inputs: { text: '{{prompt}}' } },
  '2': { class_type: 'LoadImage', inputs: { image: '{{image:1}}' } },
  '3': { class_type: 'LoadVideo', inputs: { file: '{{video:1}}' } },
  '4': { class_type: 'LoadAudio', inputs: { audio: '{{audio:1}}' } },
  '9': { class_type: 'SaveVideo', inputs: { filename_prefix: '{{prefix}}' } },
};

/** Starts the upstream of a kind. The returned function sends it a file, and returns what it received of it. */
export async function openKind(t: TestContext, name: string, kind: Kind) {
  const bodies: Body[] = [];
  const recorded = (options: ProviderClientOptions): ProviderClient => {
    const client = localClient(options);
    const call: ProviderClient['call'] = (method, path, sent) => {
      if (sent.body !== undefined) bodies.push(sent.body);
      return client.call(method, path, sent);
    };
    return { ...client, call };
  };
  const upstream = await kind.start();
  t.after(() => upstream.close());
  const placed = { name, kind, baseUrl: `http://${upstream.address}`, submitSeconds: 600 };
  const catalogue = catalogueFrom(catalogueOf([placed]), { 'workflow.json': workflow });
  const [entry] = catalogue.models.get(name)?.tiers.flat() ?? [];
  const provider = entry && openProviders(() => catalogue, recorded, upstreamKey).ofEntry(entry)?.provider;
  assert.ok(provider?.runs === 'upstream');
  return async (file: TakenFile): Promise<readonly Received[]> => {
    bodies.length = 0;
    await submit(provider, file);
    return (await Promise.all(bodies.map((body) => mediaIn(body, file)))).flat();
  };
}

const link = 'https://media.example/copy';

async function submit(provider: PolledProvider, { kind, path }: TakenFile): Promise<void> {
  const image = { path, widthPx: 400, heightPx: 320 };
  const clip = { path, seconds: 2 };
  const media: PreparedMediaByRole = {
    ...noMedia,
    images: kind === 'image' ? [image] : [],
    videos: kind === 'video' ? [clip] : [],
    audios: kind === 'audio' ? [clip] : [],
  };
  const isLinked = (kind === 'image' ? provider.images : provider.clips) === 'link';
  const links = { images: media.images, videos: media.videos, audios: media.audios };
  const given = Object.entries(links).map(([role, files]) => [role, isLinked ? files.map(() => link) : []] as const);
  const urls = { imageUrls: media.images, videoUrls: media.videos, audioUrls: media.audios };
  const named = Object.entries(urls).map(([field, files]) => [field, files.map(() => 'https://client.example/file')]);
  const request = jobRequest({
    input: withDefaults({ prompt: 'a boat', ...(Object.fromEntries(named) as object) }),
    media: async () => media,
    links: Object.fromEntries(given),
  });
  const outcome = await provider.submit(request, signal);
  assert.equal(outcome.kind, 'accepted', JSON.stringify(outcome));
}

/** Finds data URLs, long base64, links and the files of forms. */
async function mediaIn({ contentType, bytes }: Body, { path }: TakenFile): Promise<readonly Received[]> {
  if (contentType.startsWith('multipart/')) {
    const form = await new Response(Buffer.from(bytes as Uint8Array), {
      headers: { 'content-type': contentType },
    }).formData();
    const files = [...form.values()].filter((value) => typeof value !== 'string');
    return await Promise.all(
      files.map(async (file) => ({ bytes: Buffer.from(await file.arrayBuffer()), type: file.type })),
    );
  }
  const found: Promise<Received>[] = [];
  JSON.parse(Buffer.from(bytes as Uint8Array).toString(), (_name, value: unknown) => {
    if (typeof value !== 'string') return value;
    // Expressions over a whole file would overflow their stack.
    const end = value.startsWith('data:') ? value.indexOf(';base64,') : -1;
    if (end !== -1) {
      const file = Buffer.from(value.slice(end + ';base64,'.length), 'base64');
      found.push(Promise.resolve({ bytes: file, type: value.slice('data:'.length, end) }));
    } else if (value === link) found.push(readFile(path).then((file) => ({ bytes: file, type: undefined })));
    else if (/^[A-Za-z0-9+/]{500}$/.test(value.slice(0, 500)))
      found.push(Promise.resolve({ bytes: Buffer.from(value, 'base64'), type: undefined }));
    return value;
  });
  return await Promise.all(found);
}
