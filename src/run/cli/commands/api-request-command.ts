import { type Command, InvalidArgumentError } from 'commander';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { validate } from 'uuid';
import { messageOf } from '../../../platform/setup-errors-and-error-messages.ts';
import { isObject, parsedJson } from '../../../platform/text/json.ts';
import { idOfAccountCalled } from '../account-by-name.ts';
import { addCommand, sampleKeyId } from '../add-command.ts';
import { collectOption } from '../generate/generation-options-and-task-request.ts';
import { CommandError, isJsonRequested, printAnswer, usageError } from '../command-output-and-errors.ts';
import {
  addServiceOptions,
  keyHint,
  readServiceOptions,
  type ServiceOptions,
  startHint,
} from '../generate/service-options.ts';

export function addApiRequestCommand(program: Command): void {
  const command = addCommand(
    program,
    'api',
    'GET /api/admin/v1/tasks -f state=fail',
    'POST /api/admin/v1/accounts/suspend --account studio -f reason="unpaid invoice"',
    `POST /api/admin/v1/keys/revoke -f keyId=${sampleKeyId}`,
    'POST /api/v1/jobs/createTask -f model=videogen-2.0-fast -F \'input={"prompt": "a storm"}\'',
  )
    .description('send a request to a running service, and print the `data` of its response')
    .argument('<method>', methods.join(', '), method)
    .argument('<path>', 'such as /api/admin/v1/accounts', path)
    .option('-f, --raw-field <name=value>', 'a field with a text; may be repeated', field, [])
    .option(
      '-F, --field <name=value>',
      'a field with a value in JSON, such as 5, null or ["a"], else a text; @FILE or @- reads the text from a file or the standard input',
      field,
      [],
    )
    .option('--account <account>', "account, by id or name: the field accountId of an operator's request")
    .option('--input <file>', 'the body, from a file or - for the standard input; fields are then sent in the query')
    .option('-H, --header <name:value>', 'a header, such as Idempotency-Key:invoice-17; may be repeated', header, [])
    .option('--paginate', 'read all pages of a list');
  addServiceOptions(command, 'VIDEOGEN_OPERATOR_KEY for /api/admin/, VIDEOGEN_API_KEY for other paths').action(
    (verb: string, route: string, options: Options) => callApi(verb, route, options, isJsonRequested(program)),
  );
}

const methods = ['GET', 'POST', 'DELETE'];

function method(text: string): string {
  const verb = text.toUpperCase();
  if (!methods.includes(verb)) throw new InvalidArgumentError(`It must be ${methods.join(', ')}.`);
  return verb;
}

function path(text: string): string {
  if (!text.startsWith('/')) throw new InvalidArgumentError('It must begin with /, such as /api/admin/v1/accounts.');
  return text;
}

function field(text: string, earlier: readonly string[]): readonly string[] {
  if (text.indexOf('=') < 1) throw new InvalidArgumentError('It must be name=value.');
  return collectOption(text, earlier);
}

function header(text: string, earlier: readonly string[]): readonly string[] {
  if (!/^[\w-]+:/.test(text)) throw new InvalidArgumentError('It must be name:value.');
  return collectOption(text, earlier);
}

type Options = ServiceOptions & {
  readonly rawField: readonly string[];
  readonly field: readonly string[];
  readonly header: readonly string[];
  readonly account?: string;
  readonly input?: string;
  readonly paginate?: true;
};

async function callApi(verb: string, route: string, options: Options, asJson: boolean): Promise<void> {
  const { account, input, paginate } = options;
  const isOperators = route.startsWith('/api/admin/');
  if (paginate && verb !== 'GET') throw usageError('--paginate reads a list: use it with GET');
  if (account !== undefined && !isOperators)
    throw usageError('--account is for paths below /api/admin/; elsewhere the key names the account');
  const { baseUrl, key } = await readServiceOptions(options, isOperators ? 'operator' : 'client');
  const send = createSender(baseUrl.replace(/\/+$/, ''), key, isOperators);
  const fields = await fieldsOf(options);
  if (account !== undefined) fields.push(['accountId', await accountIdOf(account, send)]);
  const given = options.header
    .map((text) => splitAt(text, ':'))
    .map(([name, value]): [string, string] => [name.toLowerCase(), value.trim()]);
  const body = input === undefined ? jsonOf(verb, fields) : await read(input);
  const headers = { ...(body !== undefined && { 'content-type': 'application/json' }), ...Object.fromEntries(given) };
  const request = { method: verb, headers, ...(body !== undefined && { body }) };
  const target = `${route}${input === undefined && verb !== 'GET' ? '' : queryOf(route, fields)}`;
  const response = await send(target, request);
  if (!isJsonResponse(response)) return print(response);
  const first = dataOf(await response.json());
  const data = paginate ? await withFurtherPages(first, target, send, request) : first;
  printAnswer({ json: isObject(data) ? data : { data }, lines: [JSON.stringify(data, undefined, 2)] }, asJson);
}

type Send = (target: string, request: RequestInit) => Promise<Response>;

/** Returns a function that sends a request, and throws for a response that is an error. */
function createSender(baseUrl: string, key: string, isOperators: boolean): Send {
  return async (target, { headers, ...request }) => {
    // A redirected POST would become a GET.
    const redirect = request.method === 'GET' ? 'follow' : 'error';
    const authorized = { authorization: `Bearer ${key}`, ...Object.fromEntries(new Headers(headers)) };
    const response = await fetch(`${baseUrl}${target}`, { ...request, headers: authorized, redirect }).catch(
      (error: unknown) => {
        const reason = messageOf(error instanceof Error ? (error.cause ?? error) : error);
        throw new CommandError(`${baseUrl} cannot be reached: ${reason}\n${startHint()}`);
      },
    );
    if (response.ok) return response;
    throw refusalOf(response.status, await response.text(), isOperators);
  };
}

/** The error of the service, with its stable code. With --json it is printed as the service sent it. */
function refusalOf(status: number, text: string, isOperators: boolean): CommandError {
  const answer = parsedJson(text);
  if (!isObject(answer)) return new CommandError(`HTTP ${status}: ${text.slice(0, 500)}`);
  const { error, msg, data } = answer;
  if (typeof error !== 'string') return new CommandError(`HTTP ${status}: ${text}`, 1, answer);
  const problems = isObject(data) && Array.isArray(data['errors']) ? data['errors'].filter(isObject) : [];
  const lines = problems.map((one) => `  ${String(one['path'])}: ${String(one['message'])}`);
  const hint = status === 401 ? [keyHint(isOperators ? 'operator' : 'client')] : [];
  return new CommandError([`${error}: ${String(msg)}`, ...lines, ...hint].join('\n'), 1, answer);
}

type Field = readonly [name: string, value: unknown];

async function fieldsOf({ rawField, field: typed }: Options): Promise<Field[]> {
  const fields: Field[] = rawField.map((text) => splitAt(text, '='));
  for (const text of typed) {
    const [name, value] = splitAt(text, '=');
    fields.push([name, value.startsWith('@') ? String(await read(value.slice(1))) : parsedValue(value)]);
  }
  return fields;
}

/** Null is a value, too. */
function parsedValue(text: string): unknown {
  return text === 'null' ? null : (parsedJson(text) ?? text);
}

function splitAt(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + 1)];
}

function jsonOf(verb: string, fields: readonly Field[]): string | undefined {
  return verb === 'POST' ? JSON.stringify(Object.fromEntries(fields)) : undefined;
}

function queryOf(route: string, fields: readonly Field[]): string {
  const query = new URLSearchParams();
  for (const [name, value] of fields) for (const one of [value].flat()) query.append(name, String(one));
  return query.size === 0 ? '' : `${route.includes('?') ? '&' : '?'}${query.toString()}`;
}

async function read(file: string): Promise<Buffer<ArrayBuffer>> {
  const bytes = await buffer(file === '-' ? process.stdin : createReadStream(file)).catch((error: unknown) => {
    throw new CommandError(`cannot read ${file}: ${messageOf(error)}`);
  });
  return Buffer.from(bytes);
}

async function accountIdOf(account: string, send: Send): Promise<string> {
  if (validate(account)) return account;
  const target = `/api/admin/v1/accounts?${new URLSearchParams({ search: account, limit: '100' }).toString()}`;
  const data = dataOf(await (await send(target, { method: 'GET' })).json());
  // The route returns accounts.
  return idOfAccountCalled(account, (data as { accounts: { accountId: string; name: string }[] }).accounts);
}

/** The `data` of our own responses. Those of other dialects are printed whole. */
function dataOf(answer: unknown): unknown {
  return isObject(answer) && answer['code'] === 200 && 'data' in answer ? answer['data'] : answer;
}

/** Appends the lists of all further pages to those of the first one. */
async function withFurtherPages(first: unknown, target: string, send: Send, request: RequestInit): Promise<unknown> {
  let all = first;
  while (isObject(all) && typeof all['nextCursor'] === 'string') {
    const next = queryOf(target, [['cursor', all['nextCursor']]]);
    const page = dataOf(await (await send(`${target}${next}`, request)).json());
    if (!isObject(page)) return all;
    const before = all;
    const joined = ([name, value]: [string, unknown]) =>
      [name, Array.isArray(value) ? [before[name] ?? [], value].flat() : value] as const;
    all = { ...before, ...Object.fromEntries(Object.entries(page).map(joined)) };
  }
  return all;
}

function isJsonResponse({ headers }: Response): boolean {
  return /[/+]json\b/.test(headers.get('content-type') ?? '');
}

/** Files, CSV and pages are printed as they are, also with --json. */
async function print({ body }: Response): Promise<void> {
  // The answer; an error after a part of it is not printed into it.
  printAnswer({ json: {}, lines: [] }, true);
  if (body !== null) await pipeline(Readable.fromWeb(body), process.stdout, { end: false });
}
