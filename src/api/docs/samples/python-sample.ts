import { pythonLiteral } from './literals.ts';
import type { SampleCredential, ExampleBody, ExampleRequest } from './example-request.ts';

/** Statements with the client in clients/python, for the endpoints that it has a method for. */
const clientStatements: Readonly<Record<string, (request: ClientRequest) => string>> = {
  createTask: ({ task }) => `print(client.create_task(${task}, idempotency_key="sample-1"))`,
  priceTask: ({ task }) => `print(client.price(${task}))`,
  uploadMedia: () => 'print(client.upload("boat.jpg"))',
  recordInfo: ({ taskId }) => `print(client.get_task(${taskId}))`,
  cancelTask: ({ taskId }) => `print(client.cancel(${taskId}))`,
  deleteTask: ({ taskId }) => `print(client.delete_content(${taskId}))`,
  listTasks: () => 'for task in client.list_tasks():\n        print(task["taskId"], task["state"])',
  getCredits: () => 'print(client.balance())',
  listModels: () => 'print(client.models())',
};

/** Arguments in Python. */
type ClientRequest = { readonly taskId: string; readonly task: string };

/** An example with our client if it has a method for the endpoint, else with httpx. */
export function pythonSample(operationId: string | undefined, request: ExampleRequest): string {
  const statement = operationId === undefined ? undefined : clientStatements[operationId];
  return statement === undefined ? httpxSample(request) : clientSample(request, statement);
}

function clientSample({ baseUrl, path, body }: ExampleRequest, statement: (request: ClientRequest) => string): string {
  // The bodies of these endpoints are objects.
  const given = (body?.kind === 'json' ? body.value : {}) as Readonly<Record<string, unknown>>;
  const { taskId = new URLSearchParams(path.split('?')[1]).get('taskId'), model, input } = given;
  const task = `${pythonLiteral(model)}, ${pythonLiteral(input, 1)}`;
  return `from videogen_gateway import Videogen

with Videogen("${baseUrl}") as client:  # reads VIDEOGEN_API_KEY
    ${statement({ taskId: pythonLiteral(taskId), task })}`;
}

function httpxSample({ method, baseUrl, path, headers, credential, body, answer }: ExampleRequest): string {
  const lines = [
    ...credentialHeaders[credential],
    ...(body?.kind === 'file' ? [`"Content-Type": "${body.type}"`] : []),
    ...Object.entries(headers).map(([name, value]) => `"${name}": "${value}"`),
  ];
  const shown =
    lines.length > 1
      ? [`    headers={`, ...lines.map((line) => `        ${line},`), '    },']
      : lines.map((line) => `    headers={${line}},`);
  const call = [
    `response = httpx.${method.toLowerCase()}(`,
    `    "${baseUrl}${path}",`,
    ...shown,
    ...(body === undefined ? [] : bodyArguments(body).map((line) => `    ${line},`)),
    ...(answer === 'file' ? ['    follow_redirects=True,'] : []),
    '    timeout=60,',
    ')',
  ];
  const imports = [...(credential === 'none' ? [] : ['import os']), 'import httpx'].join('\n');
  return `${imports}\n\n${call.join('\n')}\nresponse.raise_for_status()\n${use[answer]}`;
}

const credentialHeaders: Readonly<Record<SampleCredential, readonly string[]>> = {
  none: [],
  key: [`"Authorization": f"Bearer {os.environ['VIDEOGEN_API_KEY']}"`],
  operator_key: [`"Authorization": f"Bearer {os.environ['VIDEOGEN_OPERATOR_KEY']}"`],
  cookie: [`"Cookie": os.environ["VIDEOGEN_COOKIE"]`, `"Videogen-Account": "ACCOUNT_ID"`],
};

const use: Readonly<Record<ExampleRequest['answer'], string>> = {
  json: 'print(response.json())',
  text: 'print(response.text)',
  file: 'with open("video.mp4", "wb") as file:\n    file.write(response.content)',
};

function bodyArguments(body: ExampleBody): readonly string[] {
  if (body.kind === 'json') return [`json=${pythonLiteral(body.value, 1)}`];
  return [`content=open("${body.fileName}", "rb")`];
}
