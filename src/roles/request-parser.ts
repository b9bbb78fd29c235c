import { modelCatalogue } from '../domain/models.ts';
import { createTaskRequestParser } from '../domain/task-request.ts';
import { literalRefusal } from '../outbound/guard.ts';
import type { Settings } from './settings.ts';

/** The parser of create requests with this installation's models and allow-lists. */
export function createRequestParser({
  models,
  imageAllow,
  callbackAllow,
}: Pick<Settings, 'models' | 'imageAllow' | 'callbackAllow'>) {
  return createTaskRequestParser({
    models: modelCatalogue(models),
    refuseImageUrl: (url) => literalRefusal(url, imageAllow),
    refuseCallbackUrl: (url) => literalRefusal(url, callbackAllow),
  });
}
