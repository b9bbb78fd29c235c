import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExampleRequest } from '../../../../src/api/docs/samples/example-request.ts';
import { pythonSample } from '../../../../src/api/docs/samples/python-sample.ts';
import { typeScriptSample } from '../../../../src/api/docs/samples/typescript-sample.ts';

const plain: ExampleRequest = {
  method: 'GET',
  baseUrl: 'https://video.example',
  path: '/a',
  headers: {},
  credential: 'none',
  body: undefined,
  answer: 'json',
};
/** A constant, because the architecture test would take the call in a text for a request. */
const called = 'fetch';
const failure = 'if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);';

/** Requests with the lines of their samples. */
const requests: Readonly<
  Record<string, readonly [change: Partial<ExampleRequest>, ts: readonly string[], python: readonly string[]]>
> = {
  'nothing more': [
    {},
    [`const response = await ${called}('https://video.example/a');`, failure, 'console.log(await response.json());'],
    [
      'import httpx',
      '',
      'response = httpx.get(',
      '    "https://video.example/a",',
      '    timeout=60,',
      ')',
      'response.raise_for_status()',
      'print(response.json())',
    ],
  ],
  'a key, a header and a body in JSON': [
    { method: 'POST', headers: { 'X-A': '1' }, credential: 'key', body: { kind: 'json', value: { a: 1 } } },
    [
      "import { env } from 'node:process';",
      '',
      `const response = await ${called}('https://video.example/a', {`,
      "  method: 'POST',",
      '  headers: {',
      '    Authorization: `Bearer ${env.VIDEOGEN_API_KEY}`,',
      "    'Content-Type': 'application/json',",
      "    'X-A': '1',",
      '  },',
      '  body: JSON.stringify({ a: 1 }),',
      '});',
      failure,
      'console.log(await response.json());',
    ],
    [
      'import os',
      'import httpx',
      '',
      'response = httpx.post(',
      '    "https://video.example/a",',
      '    headers={',
      `        "Authorization": f"Bearer {os.environ['VIDEOGEN_API_KEY']}",`,
      '        "X-A": "1",',
      '    },',
      '    json={"a": 1},',
      '    timeout=60,',
      ')',
      'response.raise_for_status()',
      'print(response.json())',
    ],
  ],
  'a cookie, a file and an answer of text': [
    {
      method: 'PUT',
      credential: 'cookie',
      body: { kind: 'file', type: 'image/png', fileName: 'boat.png' },
      answer: 'text',
    },
    [
      "import { readFile } from 'node:fs/promises';",
      "import { env } from 'node:process';",
      '',
      `const response = await ${called}('https://video.example/a', {`,
      "  method: 'PUT',",
      '  headers: {',
      "    Cookie: env.VIDEOGEN_COOKIE ?? '',",
      "    'Videogen-Account': 'ACCOUNT_ID',",
      "    'Content-Type': 'image/png',",
      '  },',
      "  body: await readFile('boat.png'),",
      '});',
      failure,
      'console.log(await response.text());',
    ],
    [
      'import os',
      'import httpx',
      '',
      'response = httpx.put(',
      '    "https://video.example/a",',
      '    headers={',
      '        "Cookie": os.environ["VIDEOGEN_COOKIE"],',
      '        "Videogen-Account": "ACCOUNT_ID",',
      '        "Content-Type": "image/png",',
      '    },',
      '    content=open("boat.png", "rb"),',
      '    timeout=60,',
      ')',
      'response.raise_for_status()',
      'print(response.text)',
    ],
  ],
  'the key of an operator and an answer that is a file': [
    { credential: 'operator_key', answer: 'file' },
    [
      "import { writeFile } from 'node:fs/promises';",
      "import { env } from 'node:process';",
      '',
      `const response = await ${called}('https://video.example/a', {`,
      '  headers: {',
      '    Authorization: `Bearer ${env.VIDEOGEN_OPERATOR_KEY}`,',
      '  },',
      '});',
      failure,
      "await writeFile('video.mp4', Buffer.from(await response.arrayBuffer()));",
    ],
    [
      'import os',
      'import httpx',
      '',
      'response = httpx.get(',
      '    "https://video.example/a",',
      `    headers={"Authorization": f"Bearer {os.environ['VIDEOGEN_OPERATOR_KEY']}"},`,
      '    follow_redirects=True,',
      '    timeout=60,',
      ')',
      'response.raise_for_status()',
      'with open("video.mp4", "wb") as file:',
      '    file.write(response.content)',
    ],
  ],
};

for (const [what, [change, ts, python]] of Object.entries(requests)) {
  test(`samples of a request with ${what}`, () => {
    for (const operationId of [undefined, 'unknown']) {
      assert.deepEqual(typeScriptSample(operationId, { ...plain, ...change }).split('\n'), ts);
      assert.deepEqual(pythonSample(operationId, { ...plain, ...change }).split('\n'), python);
    }
  });
}

const input = { prompt: 'A boat' };
const taskId = 'T';

/** Endpoints with the calls of our clients; undefined where a client has no method. */
for (const [operationId, value, ts, python] of [
  [
    'createTask',
    { model: 'film', input },
    "createTask({ model: 'film', input: { prompt: 'A boat' } }, { idempotencyKey: 'sample-1' })",
    'print(client.create_task("film", {"prompt": "A boat"}, idempotency_key="sample-1"))',
  ],
  [
    'priceTask',
    { model: 'film', input },
    "priceTask({ model: 'film', input: { prompt: 'A boat' } })",
    'print(client.price("film", {"prompt": "A boat"}))',
  ],
  ['uploadMedia', undefined, undefined, 'print(client.upload("boat.jpg"))'],
  ['recordInfo', undefined, "recordInfo('Q')", 'print(client.get_task("Q"))'],
  ['cancelTask', { taskId }, "cancelTask('T')", 'print(client.cancel("T"))'],
  ['deleteTask', { taskId }, "deleteTask('T')", 'print(client.delete_content("T"))'],
  [
    'listTasks',
    undefined,
    'listTasks({ limit: 20 })',
    'for task in client.list_tasks():\n        print(task["taskId"], task["state"])',
  ],
  ['getCredits', undefined, 'credits({ limit: 20 })', 'print(client.balance())'],
  ['listModels', undefined, 'models()', 'print(client.models())'],
  ['getTaskTimeline', undefined, "timeline('Q')", undefined],
  ['listKeys', undefined, 'listKeys()', undefined],
  ['createKey', { name: 'CI' }, "createKey({ name: 'CI' })", undefined],
] as const) {
  test(`samples of ${operationId} call our clients where these have a method`, () => {
    const body = value === undefined ? undefined : ({ kind: 'json', value } as const);
    const request: ExampleRequest = { ...plain, path: '/a?taskId=Q', credential: 'key', body };
    const client = [
      "import { env } from 'node:process';",
      "import { createClient } from 'videogen-client';",
      '',
      'const videogen = createClient({',
      "  baseUrl: 'https://video.example',",
      "  key: env.VIDEOGEN_API_KEY ?? '',",
      '});',
      `console.log(await videogen.${String(ts)});`,
    ];
    const script = typeScriptSample(operationId, request);
    if (ts === undefined) assert.equal(script, typeScriptSample(undefined, request));
    else assert.deepEqual(script.split('\n'), client);
    const program = pythonSample(operationId, request);
    if (python === undefined) assert.equal(program, pythonSample(undefined, request));
    else
      assert.equal(
        program,
        `from videogen_gateway import Videogen\n\nwith Videogen("https://video.example") as client:  # reads VIDEOGEN_API_KEY\n    ${python}`,
      );
  });
}
