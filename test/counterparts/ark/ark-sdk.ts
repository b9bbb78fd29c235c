import { createByteDance } from '@ai-sdk/bytedance';
import { experimental_generateVideo as generateVideo } from 'ai';

type Options = Partial<Parameters<typeof generateVideo>[0]>;

const bytes = async ({ url }: { readonly url: URL }) => {
  const response = await fetch(url);
  return { data: new Uint8Array(await response.arrayBuffer()), mediaType: response.headers.get('content-type') ?? '' };
};

/** The SDK downloads from public addresses only, so the tests pass their own `download`, which is an option of its. */
export function generate(baseUrl: string, apiKey: string, options: Options = {}) {
  const model = createByteDance({ apiKey, baseURL: `${baseUrl}/api/v3` }).video('videogen-2.0-fast');
  const bytedance = { pollIntervalMs: 10, ...options.providerOptions?.['bytedance'] };
  return generateVideo({
    prompt: 'a lighthouse',
    duration: 4,
    download: bytes,
    ...options,
    model,
    providerOptions: { bytedance },
  });
}
