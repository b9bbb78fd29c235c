import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loopbackAllowListText, parseAllowList } from '../../../../src/platform/outbound/guard/allow-list.ts';
import { isAddressAllowed, urlRefusal } from '../../../../src/platform/outbound/guard/guard.ts';
import { hostileTargets } from '../../../support/hostile/hostile-targets.ts';

const target = { hostname: 'receiver.example', port: 443 };

function isAllowed(address: string, allow = '', port = 443): boolean {
  return isAddressAllowed(address, { ...target, port }, parseAllowList(allow));
}

for (const address of ['8.8.8.8', '1.1.1.1', '100.128.0.1', '172.32.0.1', '2606:4700::1111', '2a00:1450:4001::200e']) {
  test(`the public address ${address} is allowed`, () => assert.ok(isAllowed(address)));
}

// The last address before and the first behind a range, where a wrong prefix would show.
for (const address of [
  '9.255.255.255',
  '11.0.0.0',
  '172.15.255.255',
  '192.167.255.255',
  '192.169.0.0',
  '126.255.255.255',
]) {
  test(`${address}, just outside a private range, is allowed`, () => assert.ok(isAllowed(address)));
}
for (const address of [
  '10.255.255.255',
  '172.16.0.0',
  '172.31.255.255',
  '192.168.255.255',
  '100.127.255.255',
  '223.255.255.255',
]) {
  const expected = address.startsWith('223');
  test(`${address}, at the edge of a range, is ${expected ? 'allowed' : 'refused'}`, () =>
    assert.equal(isAllowed(address), expected));
}

test('what is no plain address is refused, even for an allowed name', () => {
  for (const address of ['', '127.1', '0x7f.0.0.1', '::1%lo', 'receiver.example']) {
    assert.equal(isAllowed(address, 'receiver.example'), false, address);
  }
});

test('an allowed name may lead to a private address, on the port that was allowed', () => {
  assert.ok(isAllowed('10.0.0.1', 'receiver.example'));
  assert.ok(isAllowed('10.0.0.1', 'receiver.example:443'));
  assert.equal(isAllowed('10.0.0.1', 'receiver.example:8443'), false);
  assert.equal(isAllowed('10.0.0.1', 'other.example'), false);
});

test('an allowed network lets its own addresses through, and no others', () => {
  assert.ok(isAllowed('10.0.0.1', '10.0.0.0/24'));
  assert.equal(isAllowed('10.0.1.0', '10.0.0.0/24'), false);
  assert.equal(isAllowed('::ffff:10.0.0.1', '10.0.0.0/24'), false);
  assert.ok(isAllowed('fd00::1', 'fd00::/8'));
});

test('metadata passes neither by a network nor behind an allowed name, only by itself', () => {
  const metadata = '169.254.169.254 169.254.170.2 168.63.129.16 100.100.100.200 192.0.0.192 fd00:ec2::254 fd20:ce::254';
  for (const address of [...metadata.split(' '), '::ffff:169.254.169.254']) {
    assert.equal(isAllowed(address, '0.0.0.0/0 ::/0 receiver.example'), false, address);
  }
  assert.ok(isAllowed('169.254.169.254', '169.254.169.254'));
});

test('low ports and ports of other protocols are refused unless they are allowed', () => {
  const ofOtherProtocols =
    '1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6379 6566 6665 6666 6667 6668 6669 6679 6697 10080 11211';
  for (const port of [0, 22, 25, 79, 81, 442, 444, 1023, 65_536, ...ofOtherProtocols.split(' ').map(Number)])
    assert.equal(isAllowed('8.8.8.8', '', port), false, String(port));
  for (const port of [80, 443, 1024, 8080, 65_535]) assert.ok(isAllowed('8.8.8.8', '', port), String(port));
  assert.ok(isAllowed('8.8.8.8', 'receiver.example:81', 81));
});

const nothing = parseAllowList('');
const loopback = parseAllowList(loopbackAllowListText);

for (const { title, url } of hostileTargets(8080).filter(({ answers }) => answers === undefined)) {
  test(`refused at creation: ${title}`, () => {
    assert.match(urlRefusal(url, nothing) ?? '', /^must (not )?[a-z]/);
  });
}

test('the sentences say what to change', () => {
  assert.equal(urlRefusal('ftp://a.example/', nothing), 'must be an http or https URL');
  assert.equal(urlRefusal('nonsense', nothing), 'must be an http or https URL');
  assert.equal(urlRefusal('http://u:p@a.example/', nothing), 'must not contain a user name or password');
  assert.equal(urlRefusal('http://10.0.0.1/', nothing), 'must not point to a private or reserved address');
  assert.equal(urlRefusal('http://a.example:25/', nothing), 'must not use port 25');
});

test('public addresses and names pass, on the ports of web servers', () => {
  for (const url of [
    'https://a.example/x?y#z',
    'http://8.8.8.8/',
    'http://[2606:4700::1111]:8443/',
    'https://bücher.example',
  ]) {
    assert.equal(urlRefusal(url, nothing), undefined, url);
  }
});

test('embedded mode lets loopback through in every spelling but the mapped one', () => {
  for (const url of [
    'http://127.0.0.1:3000/',
    'http://2130706433:81/',
    'http://[::1]:3000/',
    'http://LOCALHOST.:22/',
  ]) {
    assert.equal(urlRefusal(url, loopback), undefined, url);
  }
  for (const url of ['http://[::ffff:127.0.0.1]:3000/', 'http://10.0.0.1/', 'http://a.localhost/', 'file:///x']) {
    assert.notEqual(urlRefusal(url, loopback), undefined, url);
  }
});

test('a user name is refused even for an allowed host', () => {
  assert.notEqual(urlRefusal('http://u@localhost/', loopback), undefined);
});
