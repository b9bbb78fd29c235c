import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loopbackAllowance, parseAllowList } from '../../src/outbound/allow-list.ts';
import { literalRefusal } from '../../src/outbound/literal-refusal.ts';
import { hostileTargets } from '../support/hostile-targets.ts';

const nothing = parseAllowList('');
const loopback = parseAllowList(loopbackAllowance);

for (const target of hostileTargets(8080).filter(({ answers }) => answers === undefined)) {
  test(`refused at creation: ${target.title}`, () => {
    assert.match(literalRefusal(target.url, nothing) ?? '', /^must (not )?[a-z]/);
  });
}

test('the sentences say what to change', () => {
  assert.equal(literalRefusal('ftp://a.example/', nothing), 'must be an http or https URL');
  assert.equal(literalRefusal('nonsense', nothing), 'must be an http or https URL');
  assert.equal(literalRefusal('http://u:p@a.example/', nothing), 'must not contain a user name or password');
  assert.equal(literalRefusal('http://10.0.0.1/', nothing), 'must not point to a private or reserved address');
  assert.equal(literalRefusal('http://a.example:25/', nothing), 'must not use port 25');
});

test('public addresses and names pass, on the ports of web servers', () => {
  for (const url of [
    'https://a.example/x?y#z',
    'http://8.8.8.8/',
    'http://[2606:4700::1111]:8443/',
    'https://bücher.example',
  ]) {
    assert.equal(literalRefusal(url, nothing), undefined, url);
  }
});

test('embedded mode lets loopback through in every spelling but the mapped one', () => {
  for (const url of [
    'http://127.0.0.1:3000/',
    'http://2130706433:81/',
    'http://[::1]:3000/',
    'http://LOCALHOST.:22/',
  ]) {
    assert.equal(literalRefusal(url, loopback), undefined, url);
  }
  for (const url of ['http://[::ffff:127.0.0.1]:3000/', 'http://10.0.0.1/', 'http://a.localhost/', 'file:///x']) {
    assert.notEqual(literalRefusal(url, loopback), undefined, url);
  }
});

test('a user name is refused even for an allowed host', () => {
  assert.notEqual(literalRefusal('http://u@localhost/', loopback), undefined);
});
