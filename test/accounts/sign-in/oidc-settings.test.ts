import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../src/run/config/config.ts';

test('OIDC needs issuer and client id, https except on this machine, and passwords can be off only with it', () => {
  const ids = { OIDC_ISSUER: 'https://id.example.com/tenant', OIDC_CLIENT_ID: 'videogen' };
  const { oidc: read, passwordSignIn } = readConfig({ ...ids, CONSOLE_PASSWORD_LOGIN: 'off' });
  assert.deepEqual(read, {
    issuer: ids.OIDC_ISSUER,
    clientId: 'videogen',
    clientSecret: undefined,
    name: 'id.example.com',
  });
  assert.equal(passwordSignIn, false);
  for (const [invalid, msg] of [
    [{ OIDC_ISSUER: ids.OIDC_ISSUER }, /set both or neither/],
    [{ OIDC_CLIENT_ID: 'x' }, /set both or neither/],
    [{ ...ids, OIDC_ISSUER: 'http://id.example.com' }, /OIDC_ISSUER: must be https/],
    [{ CONSOLE_PASSWORD_LOGIN: 'off' }, /CONSOLE_PASSWORD_LOGIN: may be off only where OIDC_ISSUER is set/],
    [{ CONSOLE_PASSWORD_LOGIN: 'no' }, /CONSOLE_PASSWORD_LOGIN: must be on or off/],
  ] as const) {
    assert.throws(() => readConfig(invalid), msg);
  }
});
