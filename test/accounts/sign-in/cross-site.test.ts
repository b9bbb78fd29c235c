import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import type { Answer } from '../../support/service/http-client.ts';
import { skipWithoutBrowser, startBrowser } from '../../support/console/browser.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { fromConsole, goodPassword, newMember, newPerson, type Person } from '../../support/service/person.ts';

// Other pages in the same browser: what they send carries the cookie, and must do nothing.

let service: HttpService;
let person: Person;
let accountId: string;
before(async () => {
  service = await startHttpService();
  ({ person, accountId } = await newMember(service));
});
after(() => service.close());

const plainHeaders = { 'content-type': 'application/json', 'videogen-console': '1' };
const errorOf = (answer: Answer) => (answer.status === 200 ? 'none' : answer.json.error);

test('rule 7: a request with the cookie must come from our own origin, by Sec-Fetch-Site or, without it, by Origin', async () => {
  const ask = async (method: 'GET' | 'POST', headers: Record<string, string>) => {
    const path = method === 'GET' ? '/api/console/v1/me' : '/api/console/v1/sessions/end-others';
    return errorOf(await person.askAs(method, path, { ...plainHeaders, ...headers }));
  };
  const { origin } = new URL(service.url);
  const refused = 'cross_site_request';
  for (const method of ['GET', 'POST'] as const) {
    assert.equal(await ask(method, { 'sec-fetch-site': 'same-origin' }), 'none');
    for (const site of ['same-site', 'cross-site', 'none', 'anything']) {
      assert.equal(await ask(method, { 'sec-fetch-site': site }), refused, site);
      assert.equal(await ask(method, { 'sec-fetch-site': site, origin }), refused, `${site} with our Origin`);
    }
    assert.equal(await ask(method, { origin }), 'none');
    for (const other of ['null', 'http://127.0.0.1:1', 'https://evil.test', `${origin}.evil.test`]) {
      assert.equal(await ask(method, { origin: other }), refused, other);
    }
  }
  assert.equal(await ask('GET', {}), 'none', 'a page of an old browser reads');
  assert.equal(await ask('POST', {}), refused);
});

test('rule 7: over plain http to another machine, where browsers send no Sec-Fetch-Site, the origin of PUBLIC_URL counts', async () => {
  const publicUrl = 'http://192.168.7.7:3000';
  const lan = await startHttpService({
    database: service.database,
    console: { ...service.deps.console, publicUrl },
  });
  try {
    const { email } = await newPerson(service);
    const body = JSON.stringify({ email, password: goodPassword });
    const signIn = (origin: string) =>
      lan.send('POST', '/api/console/v1/sign-in', {
        headers: { ...plainHeaders, host: '192.168.7.7:3000', origin, 'x-forwarded-for': '10.9.9.9' },
        body,
      });
    assert.equal((await signIn('http://192.168.7.8:3000')).json.error, 'cross_site_request');
    const answer = await signIn(publicUrl);
    assert.equal(answer.status, 200, answer.json.msg);
    assert.match(String(answer.headers['set-cookie']), /^videogen_3000=/);
  } finally {
    await lan.close();
  }
});

test('rule 8: a call needs a header that other origins cannot send and a body of JSON; no answer allows another origin', async () => {
  const bare = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  const ask = (method: 'GET' | 'POST', path: string, headers: Record<string, string>) =>
    person.askAs(method, path, headers);
  assert.equal(errorOf(await ask('GET', '/api/console/v1/me', bare)), 'cross_site_request');
  assert.equal(errorOf(await ask('GET', '/api/v1/credits', bare)), 'cross_site_request');
  assert.equal(errorOf(await ask('GET', '/api/v1/credits', { ...bare, 'videogen-console': '1' })), 'account_not_found');
  assert.equal(errorOf(await ask('GET', '/api/v1/credits', { ...bare, 'videogen-account': accountId })), 'none');
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
    const headers = { ...fromConsole, 'videogen-account': accountId, 'content-type': type };
    assert.equal((await ask('POST', '/api/v1/jobs/createTask', headers)).status, 415, type);
  }
  const origin = 'http://127.0.0.1:1';
  for (const method of ['OPTIONS', 'GET'] as const) {
    const headers = { ...fromConsole, origin, 'access-control-request-headers': 'videogen-account' };
    const answer = await service.send(method, '/api/v1/credits', { headers });
    assert.deepEqual(
      Object.keys(answer.headers).filter((name) => name.startsWith('access-control-')),
      [],
    );
  }
});

test('rule 10: under another host name than ours nothing of the console answers, as when a name is rebound to this machine', async () => {
  const port = new URL(service.url).port;
  const ask = async (host: string, path = '/api/console/v1/me') =>
    errorOf(await person.askAs('GET', path, { ...fromConsole, 'videogen-account': accountId, host }));
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`]) {
    assert.equal(await ask(host), 'none', host);
  }
  for (const host of [
    `rebound.test:${port}`,
    'localhost',
    `127.0.0.1:1`,
    `localhost.evil.test:${port}`,
    `10.0.0.1:${port}`,
  ]) {
    assert.equal(await ask(host), 'misdirected_request', host);
    assert.equal(await ask(host, '/api/v1/credits'), 'misdirected_request', host);
    assert.equal(await ask(host, '/api/console/v1/options'), 'misdirected_request', host);
  }
});

const hostilePage = (target: string, account: string) => `<!doctype html><title>trying</title>
<form method="post" enctype="text/plain" action="${target}/api/console/v1/sign-out"><input name='{"a":"' value='"}'></form>
<script>
const json = { 'content-type': 'application/json', 'videogen-console': '1', 'videogen-account': '${account}' };
const task = JSON.stringify(${JSON.stringify(plainRequest)});
const tries = [
  ['/api/v1/credits', { headers: json }],
  ['/api/v1/credits', { mode: 'no-cors' }],
  ['/api/v1/jobs/createTask', { method: 'POST', headers: json, body: task }],
  ['/api/v1/jobs/createTask', { method: 'POST', mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body: task }],
  ['/api/console/v1/sessions/end-others', { method: 'POST', mode: 'no-cors' }],
];
(async () => {
  const read = [];
  for (const [path, init] of tries) {
    try {
      const response = await fetch('${target}' + path, { credentials: 'include', ...init });
      read.push(response.type === 'opaque' ? 'opaque' : await response.text());
    } catch { read.push('blocked'); }
  }
  window.read = read;
  document.title = 'tried';
})();
</script>`;

test(
  'rule 7: a hostile page on another port of loopback sends the cookie along, reads nothing and changes nothing',
  { skip: skipWithoutBrowser() },
  async () => {
    const target = service.url;
    const hostile = createServer((_req, res) => {
      res.setHeader('content-type', 'text/html');
      res.end(hostilePage(target, accountId));
    });
    await new Promise<void>((done) => hostile.listen(0, '127.0.0.1', done));
    const address = hostile.address();
    assert.ok(typeof address === 'object' && address !== null);
    const browser = await startBrowser();
    try {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(`${target}/docs`);
      const { email } = person;
      const status = await page.evaluate(
        async ([name, password, headers]) => {
          const init = { method: 'POST', headers, body: JSON.stringify({ email: name, password }) };
          return (await fetch('/api/console/v1/sign-in', init)).status;
        },
        [email, goodPassword, plainHeaders] as const,
      );
      assert.equal(status, 200);
      const earlier = service.log.length;
      await page.goto(`http://127.0.0.1:${address.port}/`);
      await page.waitForFunction(`document.title === 'tried'`);
      assert.deepEqual(await page.evaluate('window.read'), ['blocked', 'opaque', 'blocked', 'opaque', 'opaque']);
      await Promise.all([page.waitForURL(`${target}/**`), page.evaluate('document.forms[0].submit()')]);
      const lines = service.log
        .slice(earlier)
        .filter(({ method, status: answered }) => answered !== undefined && method !== 'OPTIONS');
      assert.ok(lines.length >= 4);
      for (const { path, errorCode } of lines.filter(({ path: at }) => String(at).startsWith('/api/'))) {
        assert.equal(errorCode, 'cross_site_request', String(path));
      }
      await page.goto(`${target}/docs`);
      const credits = await page.evaluate(
        async (headers) => {
          const answer = await fetch('/api/v1/credits', { headers });
          return (await answer.json()) as { data: { balance: number } };
        },
        { 'videogen-account': accountId },
      );
      assert.equal(credits.data.balance, 10_000, 'still signed in, and nothing was charged');
    } finally {
      await browser.close();
      hostile.close();
    }
  },
);
