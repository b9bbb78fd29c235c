import { Router } from '@koa/router';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorCode } from '../../../../src/api/core/error-catalogue.ts';
import { HttpError } from '../../../../src/api/core/http-error.ts';
import { refuseUnknownRoutes } from '../../../../src/api/core/middleware/unknown-endpoints.ts';
import type { AppRouter, Context } from '../../../../src/api/core/request-context-and-responses.ts';

type Route = readonly ['get' | 'post', path: string];

function routerOf(routes: readonly Route[]): AppRouter {
  const router: AppRouter = new Router();
  for (const [method, path] of routes) router[method](path, () => undefined);
  return router;
}

const quiet = () => Promise.resolve();

type Asked = {
  readonly method?: string;
  readonly publicUrl?: string;
  /** Routes for loopback clients. */
  readonly local?: readonly Route[];
  readonly isFromLoopback?: boolean;
};

type Refused = { readonly code: ErrorCode; readonly msg: string; readonly allow: string | undefined };
type Answered = { readonly set: Readonly<Record<string, unknown>>; readonly body: string };

/** What a request gets that no route took. */
async function answerOf(
  routes: readonly Route[],
  path: string,
  { method = 'GET', publicUrl = '', local, isFromLoopback = true }: Asked = {},
): Promise<Refused | Answered> {
  const set: Record<string, unknown> = {};
  const req = { socket: { remoteAddress: isFromLoopback ? '127.0.0.1' : '203.0.113.1' }, headers: {} };
  const ctx = { method, path, req, body: '', set: (headers: object) => void Object.assign(set, headers) };
  const refuse = refuseUnknownRoutes(routerOf(routes), local && routerOf(local), publicUrl);
  try {
    // The parts of a context that the middleware reads.
    await refuse(ctx as unknown as Context, quiet);
  } catch (error) {
    assert.ok(error instanceof HttpError);
    return { code: error.code, msg: error.envelope.msg, allow: error.headers['Allow'] };
  }
  return { set, body: ctx.body };
}

async function hintOf(routes: readonly Route[], path: string, asked?: Asked): Promise<string | undefined> {
  const answer = await answerOf(routes, path, asked);
  assert.ok('code' in answer && answer.code === 'unknown_endpoint');
  return /^unknown endpoint(?:; did you mean (.*))?$/.exec(answer.msg)?.[1];
}

const long = '/api/v1/abcdefghijklmnop';

/** Which route is probably meant by a path. */
const hints: readonly (readonly [what: string, routes: readonly Route[], path: string, meant: string | undefined])[] = [
  ['one typo in five characters', [['get', '/abcd']], '/abce', 'GET /abcd'],
  ['two typos in five characters', [['get', '/abcd']], '/abee', undefined],
  ['a route of four characters has no typo', [['get', '/abc']], '/abd', undefined],
  ['three typos', [['get', long]], long.replace('mnop', 'mxyz'), `GET ${long}`],
  ['four typos', [['get', long]], long.replace('mnop', 'wxyz'), undefined],
  [
    'the nearest of two',
    [
      ['get', '/abcdefghij'],
      ['get', '/abcdefghxx'],
    ],
    '/abcdefghiy',
    'GET /abcdefghij',
  ],
  [
    'one of two that are equally near',
    [
      ['get', '/abcdex'],
      ['get', '/abcdey'],
    ],
    '/abcdez',
    undefined,
  ],
  [
    'the route of its method',
    [
      ['post', '/abcd'],
      ['get', '/abcd'],
    ],
    '/abce',
    'GET /abcd',
  ],
  ['the only method', [['post', '/abcd']], '/abce', 'POST /abcd'],
  ['a missing prefix', [['get', '/x/y/abcd']], '/abcd', 'GET /x/y/abcd'],
  ['a prefix too many', [['get', '/abcd']], '/x/y/abcd', 'GET /abcd'],
  ['a missing folder before a name', [['get', '/api/v1/things/items']], '/api/v1/items', 'GET /api/v1/things/items'],
  ['a missing folder before a short name', [['get', '/api/v1/things/item']], '/api/v1/item', undefined],
  [
    'a typo in a folder',
    [
      ['get', '/ab/items'],
      ['get', '/abcdef/items'],
    ],
    '/ac/items',
    'GET /ab/items',
  ],
  [
    'another case and slashes',
    [
      ['get', '/Abcd'],
      ['get', '/x/abcd'],
    ],
    '//abcd//',
    'GET /Abcd',
  ],
  ['four characters', [['get', '/x/abc']], '/abc', 'GET /x/abc'],
  ['three characters', [['get', '/x/ab']], '/ab', undefined],
  ['200 characters', [['get', `/x/${'a'.repeat(199)}`]], `/${'a'.repeat(199)}`, `GET /x/${'a'.repeat(199)}`],
  ['201 characters', [['get', `/x/${'a'.repeat(200)}`]], `/${'a'.repeat(200)}`, undefined],
  ['a route of operators', [['get', '/api/admin/v1/things']], '/v1/things', undefined],
  ['a path of operators', [['get', '/api/admin/v1/things']], '/api/admin/v1/thing', 'GET /api/admin/v1/things'],
];

for (const [what, routes, path, meant] of hints)
  test(`404 ${what}: ${meant === undefined ? 'no route' : 'a route'} is probably meant`, async () =>
    assert.equal(await hintOf(routes, path), meant));

test('404 the documentation is named if there is one, and a base URL if the service knows its own', async () => {
  const msgOf = async (routes: readonly Route[], path: string, publicUrl = '') => {
    const answer = await answerOf(routes, path, { publicUrl });
    assert.ok('code' in answer);
    return answer.msg;
  };
  assert.equal(
    await msgOf(
      [
        ['get', '/docs'],
        ['get', '/x'],
      ],
      '/y',
    ),
    'unknown endpoint; all endpoints: /docs',
  );
  assert.equal(await msgOf([['get', '/x']], '/y', 'http://a.test'), 'unknown endpoint');
  const own = 'http://a.test';
  assert.equal(await msgOf([], '/v1/mcp', own), `unknown endpoint; the URL for MCP is ${own}/mcp`);
  assert.equal(await msgOf([], '/v1/mcp'), 'unknown endpoint');
  const misplaced = `unknown endpoint; set the base URL of this client to ${own}`;
  assert.equal(await msgOf([], '/v9/jobs/recordInfo', own), misplaced);
  assert.equal(await msgOf([], '/v9/jobs/recordInfo'), 'unknown endpoint');
  assert.equal(await msgOf([], '/v9/jobs/other', own), 'unknown endpoint');
  assert.match(await msgOf([], '/v1/video/query'), /; POST \/v1\/videos creates a video, /);
  assert.match(await msgOf([], '/api/v1/models/a/b/price'), /^not offered here; GET \/api\/v1\/models/);
  assert.match(await msgOf([], '/api/file-url-upload'), /^not offered here; pass the http or https URL/);
  for (const path of ['/mcp/', '/sse', '/v1/sse', '/api/v1/mcp', '/api/messages', '/mcp/messages/'])
    assert.equal(await msgOf([], path, own), `unknown endpoint; the URL for MCP is ${own}/mcp`, path);
});

for (const path of [
  '/v2/video',
  '/v2/generations',
  '/v2/predictions',
  '/v2/tasks',
  '/v2/images',
  '/v2/chat/completions',
  '/v2/completions',
  '/v2/responses',
  '/v2/services/aigc/video-generation',
  '/v2/text_to_video',
  '/v2/image_to_image',
  '/api/v2/generations',
  '/dream-machine/v2/generations',
])
  test(`404 ${path} is a path of another API; the error names the endpoints that replace it`, async () => {
    const answer = await answerOf([], path);
    assert.ok('code' in answer);
    assert.match(answer.msg, /^unknown endpoint; POST \/api\/v1\/jobs\/createTask creates a video, /);
  });

test('405 and OPTIONS name the methods of a path; routes for this machine exist for its clients alone', async () => {
  const routes: readonly Route[] = [
    ['post', '/abcd'],
    ['get', '/abcd'],
    ['get', '/other'],
  ];
  const allow = 'GET, HEAD, OPTIONS, POST';
  const refused = await answerOf(routes, '/abcd', { method: 'PUT' });
  assert.deepEqual(refused, { code: 'method_not_allowed', msg: `method PUT not allowed; allowed: ${allow}`, allow });
  const answer = await answerOf(routes, '/abcd', { method: 'OPTIONS' });
  assert.ok('body' in answer);
  assert.deepEqual([answer.set['Allow'], JSON.parse(answer.body)], [allow, { code: 200, msg: 'success', data: {} }]);
  const local: readonly Route[] = [['get', '/metrics']];
  const codeOf = async (asked: Asked) => {
    const one = await answerOf(routes, '/metrics', { method: 'PUT', ...asked });
    return 'code' in one ? one.code : undefined;
  };
  assert.equal(await codeOf({ local }), 'method_not_allowed');
  assert.equal(await codeOf({ local, isFromLoopback: false }), 'unknown_endpoint');
  assert.equal(await codeOf({}), 'unknown_endpoint');
});
