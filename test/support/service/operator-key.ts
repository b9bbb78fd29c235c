import { createOperator } from '../../../src/accounts/operators/operator-keys.ts';
import type { Answer } from './http-client.ts';
import type { HttpService } from './http-service.ts';

type Wish = {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Sends requests with one key. Paths are given without a query. */
export type Ask = (method: 'GET' | 'POST', path: string, wish?: Wish) => Promise<Answer>;

export function askWith({ send }: Pick<HttpService, 'send'>, key: string): Ask {
  return (method, path, { query = {}, body, headers = {} } = {}) =>
    send(method, `${path}?${new URLSearchParams(query).toString()}`, {
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
}

export type TestOperator = { readonly operatorId: string; readonly key: string; readonly ask: Ask };

/** An operator with a key of its own. */
export async function createTestOperator(service: Pick<HttpService, 'send' | 'database'>): Promise<TestOperator> {
  const made = await createOperator(service.database.db, { name: 'ada' });
  return { ...made, ask: askWith(service, made.key) };
}

/** `data` of an answer that must be a 200. */
export async function dataOf(answer: Promise<Answer>): Promise<Record<string, unknown>> {
  const { status, json } = await answer;
  if (status !== 200) throw new Error(`${status} ${json.msg}`);
  return json.data;
}
