import type { Shape } from '../core/endpoint.ts';
import { meantShape } from './wrong-base-url.ts';
import { ark } from './ark/ark-routes.ts';
import type { CallbackFormat } from '../../tasks/callbacks/callback-format-type.ts';
import { adapterOf } from './dialect.ts';
import { openAI } from './openai/openai-routes.ts';
import { openRouter } from './openrouter/openrouter-routes.ts';
import type { IngressShape } from './shape.ts';

/** In the order of the reference. An API is added here and in its folder. */
export const shapes = [openAI, openRouter, ark] satisfies readonly IngressShape[];

/** The API whose errors a path gets, also one that was reached with a wrong base URL; undefined for our own. */
export function shapeOfPath(path: string): Shape | undefined {
  return meantApi(path, '')?.shape ?? shapes.find(({ paths }) => paths.test(path));
}

export function meantApi(path: string, publicUrl: string) {
  return meantShape(path, shapes, publicUrl);
}

export function isNotOffered(method: string, path: string): boolean {
  return shapes.some(({ notOffered }) => notOffered?.test(`${method} ${path}`));
}

/** The form of callbacks of tasks that were created in a dialect or through a shape. */
export function callbackFormatOf(dialect: string): CallbackFormat {
  const shape = shapes.find(({ name }) => name === dialect);
  if (shape !== undefined) {
    const { callbackBody, callbackHeaders = () => ({}) } = shape;
    return { callbackBody, callbackHeaders };
  }
  return adapterOf(dialect === 'kie' ? 'kie' : 'native');
}
