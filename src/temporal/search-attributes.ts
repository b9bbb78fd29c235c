import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { within } from './connect.ts';

export const searchAttributes = {
  accountId: defineSearchAttributeKey('AccountId', SearchAttributeType.KEYWORD),
  model: defineSearchAttributeKey('Model', SearchAttributeType.KEYWORD),
  taskState: defineSearchAttributeKey('TaskState', SearchAttributeType.KEYWORD),
};

const limitMs = 30_000;
/** `INDEXED_VALUE_TYPE_KEYWORD` of Temporal's API. */
const keyword = 2;

/** Registers the search attributes that are missing in the namespace: a workflow that sets an unknown one never continues. */
export async function registerSearchAttributes(client: Client, timeoutMs = limitMs): Promise<readonly string[]> {
  return within(client, timeoutMs, async () => {
    const { operatorService } = client.connection;
    const namespace = client.options.namespace;
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
    const missing = Object.values(searchAttributes)
      .map((key) => key.name)
      .filter((name) => !(name in customAttributes));
    if (missing.length > 0) {
      const wanted = Object.fromEntries(missing.map((name) => [name, keyword]));
      await operatorService.addSearchAttributes({ namespace, searchAttributes: wanted });
    }
    return missing;
  });
}
