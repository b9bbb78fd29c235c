import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SignedIn } from '../../../src/accounts/sign-in/signed-in-type-and-session-lifetimes.ts';
import {
  clearedSessionCookie,
  isCookieExposed,
  sessionToken,
  setOidcVisitCookie,
  setSessionCookie,
  takeOidcVisitCookie,
} from '../../../src/api/sign-in/session-and-oidc-visit-cookies.ts';
import type { Context } from '../../../src/api/core/request-context-and-responses.ts';

const [secure, plain] = ['https://video.example', 'http://localhost:3000'];

/** A request with this `Cookie`; `lines` are the cookies that its response sets. */
function requestWith(cookies: string) {
  const lines: string[] = [];
  const append = (name: string, line: string) => void lines.push(`${name}: ${line}`);
  // The parts of a context that the functions use.
  return { ctx: { get: () => cookies, append } as unknown as Context, lines };
}

for (const [publicUrl, name] of [
  [secure, '__Host-videogen'],
  ['https://video.example:8443', '__Host-videogen'],
  [plain, 'videogen_3000'],
  ['http://video.lan', 'videogen_80'],
] as const) {
  test(`at ${publicUrl} the session is that of the cookie ${name}, unless it is there twice`, () => {
    const tokenOf = (cookies: string) => sessionToken(requestWith(cookies).ctx, publicUrl);
    assert.equal(tokenOf(''), undefined);
    assert.equal(tokenOf(`other=1; ${name}_visit=2; x${name}=3`), undefined);
    assert.equal(tokenOf(`other=1; ${name}=a=b; last=2`), 'a=b');
    assert.equal(tokenOf(`${name}=`), '');
    assert.equal(tokenOf(`${name}=a;${name}=b`), '');
  });
}

test('a session cookie ends with its session, and is sent by https alone if the service has it', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  const setFor = (publicUrl: string, lifeMs: number) => {
    const { ctx, lines } = requestWith('');
    // The only field that the function reads.
    const session = { expiresAt: 1_000_000 + lifeMs } as SignedIn;
    setSessionCookie(ctx, publicUrl, { token: 'secret', session });
    return lines;
  };
  const shared = 'Path=/; HttpOnly; SameSite=Lax';
  assert.deepEqual(setFor(secure, 60_999), [`Set-Cookie: __Host-videogen=secret; ${shared}; Max-Age=60; Secure`]);
  assert.deepEqual(setFor(plain, 60_000), [`Set-Cookie: videogen_3000=secret; ${shared}; Max-Age=60`]);
  for (const lifeMs of [1_999, 999, 0, -5_000])
    assert.deepEqual(setFor(plain, lifeMs), [`Set-Cookie: videogen_3000=secret; ${shared}; Max-Age=1`]);
  assert.equal(clearedSessionCookie(secure), `__Host-videogen=; ${shared}; Max-Age=0; Secure`);
  assert.equal(clearedSessionCookie(plain), `videogen_3000=; ${shared}; Max-Age=0`);
});

test('the cookie of a visit to the identity provider lasts ten minutes, is read once, and is not that of the session', () => {
  const shared = 'Path=/; HttpOnly; SameSite=Lax';
  for (const [publicUrl, name, ending] of [
    [secure, '__Host-videogen_visit', '; Secure'],
    [plain, 'videogen_3000_visit', ''],
  ] as const) {
    const begun = requestWith('');
    setOidcVisitCookie(begun.ctx, publicUrl, 'secret');
    assert.deepEqual(begun.lines, [`Set-Cookie: ${name}=secret; ${shared}; Max-Age=600${ending}`]);
    for (const [cookies, token] of [
      [`${name.replace('_visit', '')}=session; ${name}=secret`, 'secret'],
      ['', undefined],
      [`${name}=a; ${name}=b`, ''],
    ] as const) {
      const { ctx, lines } = requestWith(cookies);
      assert.equal(takeOidcVisitCookie(ctx, publicUrl), token);
      assert.deepEqual(lines, [`Set-Cookie: ${name}=; ${shared}; Max-Age=0${ending}`]);
    }
  }
});

test('cookies are exposed over plain http to another machine', () => {
  for (const url of ['http://video.lan', 'http://192.168.0.7:3000', 'http://127.example.com', 'http://[fd00::1]'])
    assert.equal(isCookieExposed(url), true, url);
  for (const url of [secure, 'https://10.0.0.1', plain, 'http://127.0.0.1:3000', 'http://127.9.9.9', 'http://[::1]'])
    assert.equal(isCookieExposed(url), false, url);
});
