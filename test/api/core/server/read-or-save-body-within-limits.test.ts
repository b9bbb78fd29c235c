import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { findAccount } from '../../../../src/accounts/accounts.ts';
import { assertRefused } from '../../../support/service/http-client.ts';
import { parseAnswer, rawConnection, rawExchange } from '../../../support/proxies/raw-http.ts';
import { type HttpService, plainRequest, startHttpService } from '../../../support/service/http-service.ts';

let service: HttpService;
let account: { accountId: string; key: string };
before(async () => {
  service = await startHttpService();
  account = await service.newAccount(100_000);
});
after(async () => {
  await service.close();
  assert.ok(!service.log.some((line) => line['failure'] === 'internal'), 'request crashed');
});

const good = JSON.stringify(plainRequest);
const limit = 256 * 1024;

/** A good request of exactly so many bytes: JSON may be padded with spaces. */
function padded(bytes: number): string {
  return good + ' '.repeat(bytes - good.length);
}

function head(...lines: readonly string[]): string {
  const all = ['POST /api/v1/jobs/createTask HTTP/1.1', 'Host: x', `Authorization: Bearer ${account.key}`, ...lines];
  return `${all.join('\r\n')}\r\n\r\n`;
}

for (const [name, body] of [
  ['half of an object', '{"model":'],
  ['words', 'model=videogen-2.0'],
  ['an object and more', '{} {}'],
  ['single quotes', "{'model': 1}"],
  ['NaN', '{"a": NaN}'],
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22])],
  [
    'UTF-8 that is cut off',
    Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xf0, 0x9f, 0x8e]), Buffer.from('"}')]),
  ],
  ['UTF-16', Buffer.from(good, 'utf16le')],
  ['an overlong encoding', Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d])],
  ['a surrogate written as UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0xbd, 0x22])],
] as const) {
  test(`400 a body of ${name} is not JSON`, async () => {
    assertRefused(await service.create(account.key, body), 400, /^the body is not JSON/);
  });
}

for (const body of ['', ' \n']) {
  test(`400 ${JSON.stringify(body)} is told that the body is empty`, async () => {
    assertRefused(await service.create(account.key, body), 400, /^the body is empty; send a JSON object$/);
  });
}

for (const body of ['[]', 'null', '"text"', '5', 'true', `[${good}]`]) {
  test(`400 a body of ${body.slice(0, 12)} is not an object`, async () => {
    assertRefused(await service.create(account.key, body), 400, /must be a JSON object/);
  });
}

test('400 a body shorter than it said, when the client stops, leaves the service well', async () => {
  const connection = rawConnection(service.server.port);
  connection.write(head('Content-Type: application/json', 'Content-Length: 500') + good);
  connection.socket.end();
  await connection.closed;
  assert.equal((await service.create(account.key, plainRequest)).status, 200);
});

test('413 a body of 256 KiB is read and one byte more is not, with a length and without', async () => {
  for (const chunked of [false, true]) {
    const send = (bytes: number) =>
      service.send('POST', '/api/v1/jobs/createTask', {
        headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' },
        body: padded(bytes),
        chunked,
      });
    assert.equal((await send(limit)).status, 200);
    assertRefused(await send(limit + 1), 413, /larger than 256 KiB/);
  }
});

test('413 comes at once for a length that is too large, and the client may hang up', async () => {
  const connection = rawConnection(service.server.port);
  connection.write(head('Content-Type: application/json', 'Content-Length: 1000000000'));
  assertRefused(parseAnswer(await connection.received(/\r\n\r\n.*}$/s)), 413, /larger than 256 KiB/);
  connection.socket.destroy();
});

test('413 a client that sends everything before it reads gets the answer, also on a connection it asked to close', async () => {
  for (const lines of [['Connection: close'], []]) {
    const piece = 'x'.repeat(64 * 1024);
    const pieces = 48;
    const connection = rawConnection(service.server.port);
    connection.socket.pause();
    connection.write(head(...lines, 'Content-Type: application/json', `Content-Length: ${piece.length * pieces}`));
    for (let sent = 0; sent < pieces; sent += 1) await written(connection.socket, piece);
    connection.socket.resume();
    assertRefused(parseAnswer(await connection.received(/\r\n\r\n.*}$/s)), 413, /larger than 256 KiB/);
    connection.socket.destroy();
  }
});

/** Resolves once the kernel has taken the bytes and the server, in this very process, has had its turn. */
async function written(socket: Socket, bytes: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
  await setImmediate();
}

test('413 leaves a kept connection usable for the next request', async () => {
  const body = 'x'.repeat(limit + 1);
  const connection = rawConnection(service.server.port);
  connection.write(head('Content-Type: application/json', `Content-Length: ${body.length}`) + body);
  await connection.received(/HTTP\/1\.1 413.*}$/s);
  connection.write(head('Content-Type: application/json', `Content-Length: ${good.length}`) + good);
  await connection.received(/HTTP\/1\.1 413.*HTTP\/1\.1 200.*}$/s);
  connection.socket.destroy();
});

test('413 a client that asks first is refused without waiting for its body', async () => {
  const text = await rawExchange(
    service.server.port,
    head('Content-Type: application/json', `Content-Length: ${limit + 1}`, 'Expect: 100-continue', 'Connection: close'),
  );
  assertRefused(parseAnswer(text.replace('HTTP/1.1 100 Continue\r\n\r\n', '')), 413, /larger than 256 KiB/);
});

test('200 a client that asks first is told to go on with a body that fits', async () => {
  const connection = rawConnection(service.server.port);
  connection.write(head('Content-Type: application/json', `Content-Length: ${good.length}`, 'Expect: 100-continue'));
  await connection.received(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
  connection.write(good);
  await connection.received(/HTTP\/1\.1 200 OK/);
  connection.socket.destroy();
});

for (const type of [
  'application/json',
  'application/json; charset=utf-8',
  'Application/JSON;CHARSET="UTF-8"',
  'application/json ; charset=UTF8',
  'application/json; v=1',
]) {
  test(`200 Content-Type: ${type}`, async () => {
    assert.equal((await service.create(account.key, plainRequest, { 'content-type': type })).status, 200);
  });
}

for (const type of [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonp',
  'application/vnd.api+json',
  'json',
  '',
  'application/json, text/plain',
  'application/json; charset=utf-16',
  'application/json; charset=latin1',
]) {
  test(`415 Content-Type: ${type}`, async () => {
    const earlier = await findAccount(service.database.db, account.accountId);
    assertRefused(await service.create(account.key, plainRequest, { 'content-type': type }), 415, /application\/json/);
    assert.equal((await findAccount(service.database.db, account.accountId))?.balance, earlier?.balance);
  });
}

test('415 a body without Content-Type', async () => {
  const text = await rawExchange(
    service.server.port,
    head(`Content-Length: ${good.length}`, 'Connection: close') + good,
  );
  assertRefused(parseAnswer(text), 415, /application\/json/);
});

for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'gzip, identity', 'nonsense']) {
  test(`415 Content-Encoding: ${encoding} is not unpacked, whether it is well-formed or not`, async () => {
    for (const body of [gzipSync(good), Buffer.from('not packed at all')]) {
      const answer = await service.create(account.key, body, { 'content-encoding': encoding });
      assertRefused(answer, 415, /without Content-Encoding/);
      assert.equal(answer.headers['accept-encoding'], 'identity');
    }
  });
}

test('200 Content-Encoding: identity is no encoding', async () => {
  assert.equal((await service.create(account.key, plainRequest, { 'content-encoding': 'Identity' })).status, 200);
});

test('200 a byte order mark before the JSON does not matter', async () => {
  assert.equal((await service.create(account.key, `\ufeff${good}`)).status, 200);
});

for (const [text, key] of [
  [good.replace('{', '{"model":"nonsense",'), 'model'],
  [good.replace('"input":{', '"input":{"prompt":"another",'), 'input.prompt'],
  [good.replace('"input":{', '"input":{"duration":4,"dur\\u0061tion":15,'), 'input.duration'],
] as const) {
  test(`400 ${key} is there twice: refused by name and not charged, for readers may differ on which one counts`, async () => {
    const { accountId, key: ownKey } = await service.newAccount(1_000);
    assertRefused(await service.create(ownKey, text), 400, new RegExp(`^the key ${key} is given twice; give it once$`));
    assert.equal((await findAccount(service.database.db, accountId))?.balance, 1_000);
  });
}

test('422 a body that is nested too deep is told how deep it may be', async () => {
  const answer = await service.create(account.key, `{"a":${'['.repeat(40)}${']'.repeat(40)}}`);
  assert.deepEqual([answer.status, answer.json.msg], [422, 'the body is nested deeper than 32 levels']);
});

const deep = '['.repeat(100_000) + ']'.repeat(100_000);
for (const [name, body, status] of [
  ['100,000 nested arrays', deep, 422],
  ['100,000 nested arrays in a field', `{"model":${deep}}`, 422],
  [
    '100,000 nested arrays in an unknown field of input',
    `{"model":"videogen-2.0","input":{"prompt":"x","deep":${deep}}}`,
    422,
  ],
  ['40,000 nested objects', `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`, 422],
  ['100,000 brackets that never close', '['.repeat(100_000), 422],
  ['20,000 unknown fields', `{${Array.from({ length: 20_000 }, (_, i) => `"f${i}":1`).join(',')}}`, 422],
  ['60,000 images', `{"model":"videogen-2.0","input":{"prompt":"x","imageUrls":[${'"x",'.repeat(60_000)}"x"]}}`, 422],
  ['a huge number', `{"model":"videogen-2.0","input":{"prompt":"x","duration":1${'0'.repeat(100_000)}}}`, 422],
  ['a number of 1e999', '{"model":"videogen-2.0","input":{"prompt":"x","duration":1e999}}', 422],
  ['a huge string', `{"model":"${'x'.repeat(250_000)}"}`, 422],
  ['a huge field name', `{"${'x'.repeat(250_000)}":1}`, 422],
  ['__proto__', '{"__proto__":{"model":"videogen-2.0","input":{"prompt":"x"}}}', 422],
  ['constructor.prototype', '{"constructor":{"prototype":{"polluted":1}}}', 422],
] as const) {
  test(`${status} ${name}: a clear refusal of moderate length, never 5xx`, async () => {
    const answer = await service.create(account.key, body);
    assert.equal(answer.status, status);
    assert.equal(answer.json.code, status);
    assert.ok(answer.bytes.length < 16 * 1024, `${answer.bytes.length} bytes`);
  });
}
