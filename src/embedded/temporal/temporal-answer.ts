import type { Connection } from '@temporalio/client';
import { connect } from 'node:net';

export type TemporalWanted = {
  readonly namespace: string;
  /** Name to type, for example `{ AccountId: 'Keyword' }`. */
  readonly searchAttributes: Readonly<Record<string, string>>;
};

const timeoutMs = 2_000;

/** True once the server at this port of 127.0.0.1 serves, has the namespace, and knows every search attribute in it. */
export async function temporalAnswers(port: number, wanted: TemporalWanted): Promise<boolean> {
  // gRPC looks again only after a second, and its code takes a third of one to load: neither is for a port nobody listens at.
  if (!(await isListening(port))) return false;
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

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: timeoutMs });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}

async function hasWanted(connection: Connection, { namespace, searchAttributes }: TemporalWanted): Promise<boolean> {
  await connection.workflowService.describeNamespace({ namespace });
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(searchAttributes).filter(([name]) => !(name in customAttributes));
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
