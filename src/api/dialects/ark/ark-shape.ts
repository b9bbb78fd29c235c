import type { DepsOfAll } from '../../core/define-endpoint.ts';
import type { IngressShape } from '../shape.ts';
import { arkErrors } from './ark-error.ts';
import { arkEndpoints } from './ark-routes.ts';
import { presentArkTask } from './ark-task.ts';

export const ark: IngressShape<DepsOfAll<(typeof arkEndpoints)[number]>> = {
  ...arkErrors,
  description: 'Clients of BytePlus ModelArk and Volcengine Ark work with the base URL `/api/v3` of this service.',
  basePath: '/api/v3',
  operations: /^\/contents\/generations\/tasks(?:\/|$)/,
  paths: /^\/api\/v3(?:\/|$)/,
  endpoints: arkEndpoints,
  callbackBody: (record, models) => JSON.stringify(presentArkTask(record, models)),
};
