import type { IngressShape } from '../shape.ts';
import { arkErrors } from './ark-error.ts';
import { arkEndpoints } from './ark-routes.ts';
import { presentArkTask } from './ark-task.ts';

export const ark: IngressShape = {
  ...arkErrors,
  description: 'For clients of BytePlus ModelArk and Volcengine Ark: set the base URL to `/api/v3` of this service.',
  paths: /^\/api\/v3(?:\/|$)/,
  endpoints: arkEndpoints,
  callbackBody: (record, models) => JSON.stringify(presentArkTask(record, models)),
};
