import type { Step } from '../request-state.ts';
import { HttpError } from '../errors.ts';

const here = 'is not offered here; GET /api/v1/models';

/** Endpoints of the dialect's API that we have not, and what to do instead. Models may have a slash in their names. */
const notOffered: readonly (readonly [path: RegExp, sentence: string])[] = [
  [
    /^\/api\/v1\/models\/.+\/schema$/,
    `the schema of a model ${here} shows the limits of each, GET /openapi.json the fields of createTask`,
  ],
  [/^\/api\/v1\/models\/.+\/price$/, `the price of a model ${here} shows the credits per second of each`],
  [/^\/api\/v1\/models\/.+\/success-rate$/, `the success rate of a model ${here} shows the models there are`],
  [
    /^\/api\/file-(base64|stream|url)-upload$/,
    'uploads are not offered here; put an image where this service can fetch it, and give its http or https URL in ' +
      'input.reference_image_urls',
  ],
];

/** Runs when no route took the request: says plainly that an endpoint of the dialect's API is missing. */
export const refuseNotOffered: Step = async (ctx, next) => {
  const found = notOffered.find(([path]) => path.test(ctx.path));
  if (found !== undefined) throw new HttpError('unknown_endpoint', { msg: found[1] });
  await next();
};
