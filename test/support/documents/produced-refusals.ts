import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { failuresOfEveryRequest } from '../../../src/api/core/endpoint-spec.ts';
import { endpoints } from '../../../src/api/endpoints.ts';
import { endpointOf } from '../service/endpoint-of.ts';

/** Names the file in which the tests of a whole run record refusals; set by the test runner. */
export const outcomesVariable = 'VIDEOGEN_TEST_OUTCOMES';

const seen = new Set<string>();

/** Takes the log line of a request. */
export function recordOutcome({ method, path, errorCode }: Readonly<Record<string, unknown>>): void {
  const file = process.env[outcomesVariable];
  const endpoint = endpointOf(String(method), String(path));
  const outcome = [method, endpoint?.path ?? path, errorCode].join(' ');
  if (file === undefined || errorCode === undefined || seen.has(outcome)) return;
  seen.add(outcome);
  appendFileSync(file, `${outcome}\n`);
}

/**
 * The refusals that an operation documents and that no test has produced. What may happen to any request happens before a
 * route is known, and need not happen to each of them; a body that breaks off has no client left.
 */
export function unproducedOutcomes(file: string): readonly string[] {
  const produced = new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []);
  return endpoints.flatMap(({ operationId, method, path, failures }) =>
    failures
      .filter((failure) => !failuresOfEveryRequest.includes(failure) && failure !== 'body_unreadable')
      .filter((failure) => !produced.has(`${method.toUpperCase()} ${path} ${failure}`))
      .map((failure) => `${operationId} ${failure}`),
  );
}
