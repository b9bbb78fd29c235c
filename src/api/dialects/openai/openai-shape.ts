import type { DepsOfAll } from '../../core/define-endpoint.ts';
import type { IngressShape } from '../shape.ts';
import { openAIErrors } from './openai-error.ts';
import { openAIModelEndpoints } from './openai-models.ts';
import { openAIVideoEndpoints } from './openai-routes.ts';

const endpoints = [...openAIVideoEndpoints, ...openAIModelEndpoints];

export const openAI: IngressShape<DepsOfAll<(typeof endpoints)[number]>> = {
  ...openAIErrors,
  description: 'OpenAI’s videos API: set the base URL of its clients to `/v1` of this service.',
  basePath: '/v1',
  operations: /^\/(?:videos|models)(?:\/|$)/,
  paths: /^\/v1(?:\/|$)/,
  endpoints,
  notOffered:
    /^(?:POST \/v1\/videos\/(?:edits|extensions|characters|[^/]+\/remix)|GET \/v1\/videos\/characters\/[^/]+)$/,
  callbackBody: (record) =>
    JSON.stringify({
      id: `evt_${record.taskId}`,
      object: 'event',
      type: record.state === 'success' ? 'video.completed' : 'video.failed',
      created_at: Math.floor((record.completeTime ?? record.updateTime) / 1000),
      data: { id: record.taskId },
    }),
};
