import type { OutboundResponse } from './exchange.ts';
import { OutboundError } from './outbound-error.ts';

/** One request; `read` sees its response, and the answer is what `read` says. */
export type Send = <T>(url: string, read: (response: OutboundResponse) => Promise<T>) => Promise<T>;

type Outcome<T> = { readonly location: string } | { readonly answer: T };

const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/** Sends to `url` and wherever the answers lead, at most `maxRedirects` times. `send` checks every address anew. */
export async function followRedirects<T>(
  url: string,
  maxRedirects: number,
  send: Send,
  read: (response: OutboundResponse) => Promise<T>,
): Promise<T> {
  let next = url;
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    const outcome = await send<Outcome<T>>(next, async (response) => {
      if (redirectStatuses.has(response.statusCode ?? 0)) return { location: locationOf(response, next) };
      return { answer: await read(response) };
    });
    if ('answer' in outcome) return outcome.answer;
    next = outcome.location;
  }
  throw new OutboundError('redirect', `more than ${maxRedirects} redirects`);
}

/** A location that is no URL stays as it is: the check of the next hop refuses it. */
function locationOf(response: OutboundResponse, base: string): string {
  const location = response.headers['location'];
  if (typeof location !== 'string') {
    throw new OutboundError('redirect', `status ${response.statusCode ?? 0} without one location`);
  }
  return URL.canParse(location, base) ? new URL(location, base).href : location;
}
