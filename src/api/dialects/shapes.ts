import type { ErrorShape } from '../core/endpoint-spec.ts';
import { findMeantShape } from './wrong-base-url.ts';
import { arkShape } from './ark/ark-routes.ts';
import type { CallbackFormatter } from '../../tasks/callbacks/post-callback.ts';
import { dialectAdapter } from './native-and-kie-dialects.ts';
import { openAIShape } from './openai/openai-routes.ts';
import { openRouterShape } from './openrouter/openrouter-routes.ts';
import type { ApiShape } from './shape.ts';

/** In the order of the reference. An API is added here and in its folder. */
export const shapes = [openAIShape, openRouterShape, arkShape] satisfies readonly ApiShape[];

/** The API whose errors a path gets, also one that was reached with a wrong base URL; undefined for our own. */
export function errorShapeOfPath(path: string): ErrorShape | undefined {
  return findMeantApi(path, '')?.shape ?? shapes.find(({ paths }) => paths.test(path));
}

export function findMeantApi(path: string, publicUrl: string) {
  return findMeantShape(path, shapes, publicUrl);
}

export function isNotOffered(method: string, path: string): boolean {
  return shapes.some(({ notOffered }) => notOffered?.test(`${method} ${path}`));
}

/** The form of callbacks of tasks that were created in a dialect or through a shape. */
export function callbackFormatOf(dialect: string): CallbackFormatter {
  const shape = shapes.find(({ name }) => name === dialect);
  if (shape !== undefined) {
    const { callbackBody, callbackHeaders = () => ({}) } = shape;
    return { callbackBody, callbackHeaders };
  }
  return dialectAdapter(dialect === 'kie' ? 'kie' : 'native');
}
