import { useRead } from '../../api/queries.ts';
import type { Sample } from '../../ui/code-block.tsx';

/** `firstRequest` for a model that the service has. */
export function useFirstRequest(): Sample {
  const { data } = useRead('/api/v1/models', {});
  return firstRequest(data?.models[0]?.sampleRequest);
}

/** For an empty list: the shortest request that makes a video. */
function firstRequest(body: object = { model: 'MODEL', input: { prompt: 'A lighthouse in the fog' } }): Sample {
  return { title: 'curl', text: curlSample(`${location.origin}/api/v1/jobs/createTask`, JSON.stringify(body)) };
}

export function curlSample(url: string, json: string): string {
  return [
    `curl ${url} \\`,
    `  -H "Authorization: Bearer $VIDEOGEN_API_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    // Small images of Linux have no uuidgen.
    `  -H "Idempotency-Key: $(date +%s)-$$" \\`,
    `  -d '${json.replaceAll("'", String.raw`'\''`)}'`,
  ].join('\n');
}
