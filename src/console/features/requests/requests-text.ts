import type { Tone } from '../../ui/controls/words-and-tones.ts';

/** Every text of the request log. */
export const requestsText = {
  lead: 'API requests from the last seven days, including rejected ones, and changes made in the console.',
  noun: ['request', 'requests'],
  empty: 'No requests yet',
  emptyAdvice: 'Requests with an API key of this account appear here about a second after their response.',
  createKey: 'Create an API key',
  statuses: 'Status',
  anyStatus: 'All',
  status: { '2xx': 'Succeeded', '4xx': 'Rejected', '5xx': 'Errors' },
  endpoint: 'Endpoint',
  error: 'Error code',
  requestId: 'Request ID',
  key: 'API key',
  allKeys: 'All keys',
  ofKey: 'One API key',
  request: 'Request',
  by: 'Made by',
  person: 'Console',
  duration: 'Duration',
  time: 'Time',
  aborted: 'Aborted',
  copyId: 'Copy request ID',
  tool: 'MCP tool',
  task: 'Task',
  exactTime: 'Finished',
  only: 'Only requests with this key',
} as const;

/** The tone of a status: the client's mistakes are not the service's. */
export function statusTone(status: number | null): Tone {
  if (status === null) return 'calm';
  if (status >= 500) return 'bad';
  return status >= 400 ? 'warn' : 'good';
}
