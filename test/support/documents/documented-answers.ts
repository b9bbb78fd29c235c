import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Operation } from '../../../src/api/core/endpoint-spec.ts';
import { endpointOf } from '../service/endpoint-of.ts';
import { type Answer, isObject, type Send } from '../service/http-client.ts';

/**
 * A client that checks every answer of a documented operation against the OpenAPI document itself. The schemas it is made
 * from are not enough: what the generator makes of them can be something else, and that is what clients read.
 */
export function documentedOnly(send: Send): Send {
  const { ajv, document, compiled } = checkedDocument();
  const schemaOf = (operation: Operation, status: number) => {
    const type = (status === 200 && operation.contentType) || 'application/json';
    const pointer = `openapi${pointerTo(document, operation, status)}/content/${encodeURI(type).replace('/', '~1')}/schema`;
    if (!compiled.has(pointer)) compiled.set(pointer, compile(ajv, pointer));
    return compiled.get(pointer);
  };
  const headersOf = (operation: Operation, status: number) => {
    const headers = valueAt(document, `${pointerTo(document, operation, status)}/headers`);
    return Object.keys(isObject(headers) ? headers : {}).map((name) => name.toLowerCase());
  };
  return async (method, path, options) => {
    const answer = await send(method, path, options);
    const operation = endpointOf(method, path.split('?')[0] ?? '');
    if (operation !== undefined) {
      requireDocumented(operation, answer, schemaOf(operation, answer.status));
      requireHeaders(operation, answer, headersOf(operation, answer.status));
    }
    return answer;
  };
}

type CheckedDocument = {
  readonly ajv: Ajv2020;
  readonly document: unknown;
  readonly compiled: Map<string, ValidateFunction | undefined>;
};

let checked: CheckedDocument | undefined;

/** openapi.json, with its validators, once per process. The models of a service change requests only; `http/openapi` proves the file. */
function checkedDocument(): CheckedDocument {
  if (checked !== undefined) return checked;
  const document: unknown = JSON.parse(readFileSync('openapi.json', 'utf8'));
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(isObject(document) ? document : {}, 'openapi');
  checked = { ajv, document, compiled: new Map() };
  return checked;
}

/** A response is described in its operation, or in the component that the operation refers to. */
function pointerTo(document: unknown, { path, method }: Operation, status: number): string {
  const steps = ['paths', path, method, 'responses', String(status)];
  const pointer = `#/${steps.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
  const response = valueAt(document, pointer);
  return isObject(response) && typeof response['$ref'] === 'string' ? response['$ref'] : pointer;
}

function valueAt(document: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((value, step) => (isObject(value) ? value[step] : undefined), document);
}

/** Undefined when the document has nothing there. */
function compile(ajv: Ajv2020, pointer: string): ValidateFunction | undefined {
  try {
    return ajv.compile({ $ref: pointer });
  } catch (error) {
    if (error instanceof Ajv2020.MissingRefError) return undefined;
    throw error;
  }
}

function requireDocumented(
  operation: Operation,
  { status, bytes, headers }: Answer,
  isValid: ValidateFunction | undefined,
) {
  const what = `${operation.operationId} answered ${status}`;
  // The body of a file has no schema.
  if (operation.sendsFile !== undefined && status < 400) return;
  assert.ok(isValid, `${what}, which openapi.json does not document (npm run openapi)`);
  const isText = status === 200 && operation.contentType !== undefined;
  if (isText) assert.equal(headers['content-type'], operation.contentType);
  const answer: unknown = isText ? bytes.toString() : JSON.parse(bytes.toString());
  if (isValid(answer)) return;
  assert.fail(`${what} unlike its document: ${JSON.stringify(isValid.errors)}`);
}

/** Every response may have these. An operation documents all others. */
const ofEveryAnswer = [
  'date',
  'connection',
  'keep-alive',
  'content-type',
  'content-length',
  'transfer-encoding',
].concat(['cache-control', 'x-content-type-options', 'strict-transport-security']);

function requireHeaders({ operationId }: Operation, { status, headers }: Answer, documented: readonly string[]) {
  const missing = Object.keys(headers).filter((name) => ![...ofEveryAnswer, ...documented].includes(name));
  assert.deepEqual(missing, [], `headers of ${operationId} ${status} that are not documented`);
}
