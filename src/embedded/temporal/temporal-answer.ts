import type { Connection } from '@temporalio/client';
import { get } from 'node:http';
import type { TemporalPorts } from './spawn-temporal.ts';

export type TemporalWanted = {
  readonly namespace: string;
  /** Name to type, for example `{ AccountId: 'Keyword' }`. */
  readonly searchAttributes: Readonly<Record<string, string>>;
};

const timeoutMs = 2_000;

/**
 * True once the server at these ports of 127.0.0.1 serves, has the namespace, and knows every search attribute in it. It is asked
 * over plain HTTP first: the code of gRPC takes a third of a second to load, and is needed only to add an attribute, or for a
 * server that does not answer this question over HTTP.
 */
export async function temporalAnswers({ port, httpPort }: TemporalPorts, wanted: TemporalWanted): Promise<boolean> {
  if (httpPort !== undefined) {
    const known = await searchAttributesOverHttp(httpPort, wanted.namespace);
    if (known === undefined) return false;
    if (missingFrom(known, wanted).length === 0) return true;
  }
  try {
    const { Connection } = await import('@temporalio/client');
    const connection = await Connection.connect({ address: `127.0.0.1:${port}`, connectTimeout: timeoutMs });
    try {
      return await connection.withDeadline(Date.now() + timeoutMs, () => hasWanted(connection, wanted));
    } finally {
      await connection.close();
    }
  } catch {
    // Not listening yet, namespace not made yet, shutting down: all of them mean not now.
    return false;
  }
}

/** The namespace's own search attributes; empty when it says something else, undefined while nobody answers at all. */
async function searchAttributesOverHttp(port: number, namespace: string): Promise<object | undefined> {
  try {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/search-attributes`;
    const answer: unknown = JSON.parse(await bodyOf(port, path));
    const known =
      typeof answer === 'object' && answer !== null && 'customAttributes' in answer && answer.customAttributes;
    return typeof known === 'object' && known !== null ? known : {};
  } catch (error) {
    return error instanceof SyntaxError ? {} : undefined;
  }
}

function bodyOf(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = get({ host: '127.0.0.1', port, path, agent: false, timeout: timeoutMs }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('end', () => resolve(body)).on('error', reject);
    });
    asked.on('timeout', () => asked.destroy()).on('error', reject);
  });
}

function missingFrom(known: object, { searchAttributes }: TemporalWanted): [name: string, type: string][] {
  return Object.entries(searchAttributes).filter(([name]) => !(name in known));
}

async function hasWanted(connection: Connection, wanted: TemporalWanted): Promise<boolean> {
  const { namespace } = wanted;
  await connection.workflowService.describeNamespace({ namespace });
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = missingFrom(customAttributes, wanted);
  if (missing.length === 0) return true;
  // The server's own flag counts only for a namespace it creates, so one from an older release lacks what is new since.
  const added = Object.fromEntries(missing.map(([name, type]) => [name, indexedValueType(type)]));
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: added });
  // They take a moment to be seen, so the next look decides.
  return false;
}

/** The numbers of temporal.api.enums.v1.IndexedValueType. */
const indexedValueTypes = ['Unspecified', 'Text', 'Keyword', 'Int', 'Double', 'Bool', 'Datetime', 'KeywordList'];

function indexedValueType(type: string): number {
  return Math.max(0, indexedValueTypes.indexOf(type));
}
