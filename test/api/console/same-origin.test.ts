import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  hasConsoleHeader,
  refuseForeignLink,
  refuseForeignPage,
  requireOwnHost,
  requireOwnPage,
} from '../../../src/api/console/same-origin.ts';
import { HttpError } from '../../../src/api/core/http-error.ts';
import type { Context } from '../../../src/api/core/request-context-and-responses.ts';

const publicUrl = 'https://video.example';
type Headers = Readonly<Record<string, string>>;

/** The parts of a request that these checks read. */
function contextOf(headers: Headers, method = 'POST'): Context {
  const get = (name: string) => ({ host: 'video.example', ...headers })[name.toLowerCase()] ?? '';
  return { get, method, req: { socket: { localPort: 3000 } } } as unknown as Context;
}

function refusalOf(check: (ctx: Context, url: string) => void, headers: Headers, method?: string): string | undefined {
  try {
    check(contextOf(headers, method), publicUrl);
    return undefined;
  } catch (error) {
    return error instanceof HttpError ? error.code : assert.fail(String(error));
  }
}

const origin = publicUrl;
const sent = { 'videogen-console': '1' };

for (const [host, refusal] of [
  ['video.example', undefined],
  ['VIDEO.example', undefined],
  ['localhost:3000', undefined],
  ['127.0.0.1:3000', undefined],
  ['[::1]:3000', undefined],
  ['localhost:3001', 'misdirected_request'],
  ['video.example:3000', 'misdirected_request'],
  ['evil.example', 'misdirected_request'],
  ['', 'misdirected_request'],
] as const) {
  test(`a request to the host "${host}" is ${refusal === undefined ? 'accepted' : 'refused'}`, () => {
    assert.equal(refusalOf(requireOwnHost, { host }), refusal);
    assert.equal(refusalOf(refuseForeignLink, { host }), refusal);
    assert.equal(refusalOf(requireOwnPage, { host, origin, ...sent }), refusal);
  });
}

for (const [what, headers, method, refusal] of [
  ['of the same origin', { 'sec-fetch-site': 'same-origin', ...sent }, 'POST', undefined],
  ['that names an account', { 'sec-fetch-site': 'same-origin', 'videogen-account': 'a' }, 'POST', undefined],
  ['of an old browser', { origin, ...sent }, 'POST', undefined],
  ['of an old browser that reads', sent, 'GET', undefined],
  ['of an old browser without an origin', sent, 'POST', 'cross_site_request'],
  ['of another origin that reads', { origin: 'https://evil.example', ...sent }, 'GET', 'cross_site_request'],
  ['of the same site', { 'sec-fetch-site': 'same-site', origin, ...sent }, 'GET', 'cross_site_request'],
  ['of no page', { 'sec-fetch-site': 'none', ...sent }, 'GET', 'cross_site_request'],
  ['without the headers of the console', { 'sec-fetch-site': 'same-origin', origin }, 'POST', 'cross_site_request'],
] as const) {
  test(`a request ${what} is ${refusal === undefined ? 'accepted' : 'refused'}`, () =>
    assert.equal(refusalOf(requireOwnPage, headers, method), refusal));
}

test('a link may come from our pages, from a bookmark or from an old browser', () => {
  for (const site of ['', 'none', 'same-origin'])
    assert.equal(refusalOf(refuseForeignLink, { 'sec-fetch-site': site }), undefined);
  for (const site of ['same-site', 'cross-site'])
    assert.equal(refusalOf(refuseForeignLink, { 'sec-fetch-site': site }), 'cross_site_request');
});

test('a page of another origin is refused, also under the host of this service; a program has none', () => {
  for (const own of ['', origin]) assert.equal(refusalOf(refuseForeignPage, { origin: own }), undefined);
  for (const other of ['null', 'http://video.example', 'https://evil.example'])
    assert.equal(refusalOf(refuseForeignPage, { origin: other }), 'cross_site_request');
});

test('either header is one of the console', () => {
  assert.equal(hasConsoleHeader(contextOf({})), false);
  for (const name of ['videogen-console', 'videogen-account'])
    assert.equal(hasConsoleHeader(contextOf({ [name]: '1' })), true);
});
