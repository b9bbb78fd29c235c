import { brand } from '../../api/page-brand.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import type { Sample } from '../../ui/controls/code-block.tsx';
import { playgroundText } from './playground-text.ts';

/** The request of the form as programs send it, to the host of this page. None needs an installed package. */
export function requestSamples(body: unknown): readonly Sample[] {
  const url = createUrl();
  const json = JSON.stringify(body, undefined, 2);
  return [
    { title: 'curl', text: curlSample(url, json) },
    { title: 'TypeScript', text: typeScriptSample(url, json) },
    { title: 'Python', text: pythonSample(url, json) },
  ];
}

/** Returns the shortest request to a model that the service has. */
export function useFirstRequestSample(): Sample {
  const { data } = useRead('/api/v1/models', {});
  const body = data?.models[0]?.sampleRequest ?? { model: 'MODEL', input: { prompt: playgroundText.firstPrompt } };
  return { title: 'curl', text: curlSample(createUrl(), JSON.stringify(body)) };
}

function createUrl(): string {
  return `${location.origin}/api/v1/jobs/createTask`;
}

function curlSample(url: string, json: string): string {
  return [
    `curl ${url} \\`,
    `  -H "Authorization: Bearer $${brand.keyVariable}" \\`,
    `  -H "Content-Type: application/json" \\`,
    // Small Linux images have no uuidgen.
    `  -H "Idempotency-Key: $(date +%s)-$$" \\`,
    `  -d '${json.replaceAll("'", String.raw`'\''`)}'`,
  ].join('\n');
}

function typeScriptSample(url: string, json: string): string {
  return `import { env } from 'node:process';

const answer = await fetch('${url}', {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${env.${brand.keyVariable}}\`,
    'Content-Type': 'application/json',
    'Idempotency-Key': crypto.randomUUID(),
  },
  body: JSON.stringify(${json.replaceAll('\n', '\n  ')}),
});
const { msg, data } = (await answer.json()) as { msg: string; data: { taskId: string } };
if (!answer.ok) throw new Error(msg);
console.log(data.taskId);`;
}

function pythonSample(url: string, json: string): string {
  // JSON's own escape keeps quotes of a prompt from ending the string.
  return `import json, os, urllib.request, uuid

body = r'''${json.replaceAll("'", String.raw`\u0027`)}'''
request = urllib.request.Request(
    "${url}",
    headers={
        "Authorization": f"Bearer {os.environ['${brand.keyVariable}']}",
        "Content-Type": "application/json",
        "Idempotency-Key": str(uuid.uuid4()),
    },
    data=body.encode(),
)
with urllib.request.urlopen(request, timeout=30) as response:
    print(json.load(response)["data"]["taskId"])`;
}
