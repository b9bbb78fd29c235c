/** What the server is told about our search attributes before any code of Temporal's is loaded; all of them are keywords. */
export const searchAttributeNames = { accountId: 'AccountId', model: 'Model', taskState: 'TaskState' } as const;
