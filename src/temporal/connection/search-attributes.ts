import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { callWithin } from './connect.ts';

export const searchAttributes = {
  accountId: defineSearchAttributeKey('AccountId', SearchAttributeType.KEYWORD),
  model: defineSearchAttributeKey('Model', SearchAttributeType.KEYWORD),
  taskState: defineSearchAttributeKey('TaskState', SearchAttributeType.KEYWORD),
};

const limitMs = 30_000;
/** `INDEXED_VALUE_TYPE_KEYWORD` of Temporal's API. */
const keyword = 2;

/** Registers missing search attributes in the namespace: a workflow that sets an unknown one never continues. */
export async function registerSearchAttributes(client: Client, timeoutMs = limitMs): Promise<readonly string[]> {
  return callWithin(client, timeoutMs, async () => {
    const missing = await readMissingSearchAttributes(client);
    const added = Object.fromEntries(missing.map((name) => [name, keyword]));
    const { namespace } = client.options;
    if (missing.length > 0)
      await client.connection.operatorService.addSearchAttributes({ namespace, searchAttributes: added });
    return missing;
  });
}

export async function readMissingSearchAttributes(client: Client): Promise<readonly string[]> {
  const { namespace } = client.options;
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({ namespace });
  const names = Object.values(searchAttributes).map(({ name }) => name);
  return names.filter((name) => !(name in customAttributes));
}
