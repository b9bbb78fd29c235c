import type { Context } from '../core/request-context-and-responses.ts';
import { HttpError } from '../core/http-error.ts';
import type { ApiShape } from './shape.ts';

// Clients join a base URL and the path of an operation. With a wrong base URL, the path of the operation is still there, so the error names
// the base URL that leads to it, in the form that the client reads.

/** Prefixes that a wrong base URL adds, repeats or leaves out. */
const prefixes = /^(?:\/+(?:api\/)?v\d|\/+api)*(?=\/)/;

type Meant = { readonly shape: ApiShape; readonly baseUrl: string };

/** The API and the base URL that a request to an unknown path was meant for; undefined if no API has such an operation. */
export function findMeantShape(path: string, shapes: readonly ApiShape[], publicUrl: string): Meant | undefined {
  if (path.length > 500) return undefined;
  const operation = path.replaceAll(/\/{2,}/g, '/').replace(prefixes, '');
  const prefix = path.slice(0, path.length - operation.length);
  // `/api/v1/models` is ours.
  const isOurs = prefix.startsWith('/api') && operation.startsWith('/models');
  const fitting = shapes.filter(({ operations }) => operations.test(operation) && !isOurs);
  const shape = fitting.find(({ basePath }) => prefix.startsWith(basePath)) ?? fittingDefault(fitting, prefix);
  return shape && { shape, baseUrl: `${publicUrl}${shape.basePath}` };
}

/** `/videos` is an operation of two APIs; OpenRouter's base path begins with `/api`. */
function fittingDefault(fitting: readonly ApiShape[], prefix: string): ApiShape | undefined {
  const [first] = fitting;
  return prefix.startsWith('/api') ? (fitting.find(({ basePath }) => basePath.startsWith('/api')) ?? first) : first;
}

/** Refuses a client of another API before it is charged for a video whose record it cannot read. */
export function refuseOtherClient(ctx: Context, own: ApiShape['name'], publicUrl: string): void {
  const other = otherClients.find(({ shape, isFrom }) => shape !== own && isFrom(ctx));
  if (other === undefined) return;
  const msg = `this is a client of ${other.title}: set its base URL to ${publicUrl}${other.basePath}; nothing was charged`;
  throw new HttpError('base_url_mismatch', { msg });
}

const otherClients = [
  {
    shape: 'openai',
    title: 'OpenAI',
    basePath: '/v1',
    isFrom: (ctx: Context) => /^(?:Async)?OpenAI\//.test(ctx.get('User-Agent')),
  },
  {
    shape: 'openrouter',
    title: 'OpenRouter',
    basePath: '/api/v1',
    isFrom: (ctx: Context) => /ai-sdk\/openrouter|@?openrouter\b/i.test(ctx.get('User-Agent')),
  },
];
