import type { Sample } from '../../ui/code-block.tsx';

/** The request of the form as programs make it, against the very host that shows the page. */
export function requestSamples(body: unknown): readonly Sample[] {
  const url = `${location.origin}/api/v1/jobs/createTask`;
  const json = JSON.stringify(body, undefined, 2);
  return [
    { title: 'curl', text: curlSample(url, json) },
    { title: 'TypeScript', text: typeScriptSample(json) },
    { title: 'Python', text: pythonSample(url, body) },
  ];
}

function curlSample(url: string, json: string): string {
  return [
    `curl ${url} \\`,
    `  -H "Authorization: Bearer $VIDEOGEN_API_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -H "Idempotency-Key: $(uuidgen)" \\`,
    `  -d '${json.replaceAll("'", String.raw`'\''`)}'`,
  ].join('\n');
}

function typeScriptSample(json: string): string {
  return `import { env } from 'node:process';
import { createClient } from 'videogen-client';

const videogen = createClient({
  baseUrl: '${location.origin}',
  key: env.VIDEOGEN_API_KEY ?? '',
});

const { taskId } = await videogen.createTask(${json});
const record = await videogen.waitForTask(taskId);
console.log(record.state, record.resultJson.resultUrls);`;
}

function pythonSample(url: string, body: unknown): string {
  return `import os, uuid, requests

answer = requests.post(
    "${url}",
    headers={
        "Authorization": f"Bearer {os.environ['VIDEOGEN_API_KEY']}",
        "Idempotency-Key": str(uuid.uuid4()),
    },
    json=${pythonValue(body, 4)},
    timeout=30,
)
answer.raise_for_status()
print(answer.json()["data"]["taskId"])`;
}

function pythonValue(value: unknown, indent: number): string {
  const inner = ' '.repeat(indent + 4);
  const end = ' '.repeat(indent);
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null) return 'None';
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((item) => `${inner}${pythonValue(item, indent + 4)},\n`).join('')}${end}]`;
  }
  if (typeof value === 'object') {
    const lines = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => `${inner}"${name}": ${pythonValue(item, indent + 4)},\n`);
    return `{\n${lines.join('')}${end}}`;
  }
  // Python reads JSON's strings and numbers.
  return JSON.stringify(value);
}

/** Complete as it stands: nothing to install. */
export function verifySample(webhookId?: string): string {
  return `import { createHmac, timingSafeEqual } from 'node:crypto';

// headers and body as they arrived, the body as text; secret is your whsec_…
// ${webhookId === undefined ? 'The webhook-id is the same at every attempt.' : `The webhook-id of this callback is ${webhookId}.`}
export function isGenuine({ headers, body, secret }) {
  const { 'webhook-id': id, 'webhook-timestamp': sentAt, 'webhook-signature': signatures } = headers;
  const isFresh = Math.abs(Date.now() / 1000 - Number(sentAt)) < 300;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const expected = createHmac('sha256', key).update(\`\${id}.\${sentAt}.\${body}\`).digest();
  return isFresh && signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature.replace('v1,', ''), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}`;
}

/** For an empty list: the shortest request that makes a video. */
export function firstRequest(): Sample {
  const body = { model: 'videogen-2.0-fast', input: { prompt: 'a lighthouse in a storm', duration: 4 } };
  return { title: 'curl', text: curlSample(`${location.origin}/api/v1/jobs/createTask`, JSON.stringify(body)) };
}
