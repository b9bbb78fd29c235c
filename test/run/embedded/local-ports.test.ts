import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { readPort, readOrReservePort, reserveFreePort, tryReservePort } from '../../../src/run/embedded/local-ports.ts';
import { awkwardFolder, endProcessesAfterTests, runStarter } from '../../support/processes/embedded-processes.ts';

endProcessesAfterTests();

test('a port that a process has chosen is chosen by no other until that process ends', async (t) => {
  const other = await runStarter('port');
  t.after(other.kill);
  const port = Number(other.report['port']);
  assert.ok(port > 0);
  assert.equal(await tryReservePort(port), false);
  await other.kill();
  assert.equal(await tryReservePort(port), true);
  assert.equal(await tryReservePort(port), false, 'nor twice by the same one');
});

test('a stored port stays the same, and is replaced when a program listens on it', async (t) => {
  const file = await awkwardFolder();
  await mkdir(dirname(file), { recursive: true });
  const earlier = await runStarter('port');
  await earlier.kill();
  const port = Number(earlier.report['port']);
  await writeFile(file, `${port}\n`);
  assert.equal(await readOrReservePort(file), port);
  assert.equal(await tryReservePort(port), false, 'no other program chooses it');
  const program = createServer().listen(port, '127.0.0.1');
  t.after(() => void program.close());
  await once(program, 'listening');
  const another = await readOrReservePort(file);
  assert.notEqual(another, port);
  assert.equal(await readFile(file, 'utf8'), `${another}\n`);
});

test('a port on which a program listens is not chosen', async (t) => {
  const program = createServer().listen(0, '127.0.0.1');
  t.after(() => void program.close());
  await once(program, 'listening');
  const { port: taken } = program.address() as AddressInfo; // a listening TCP server has one
  const { randomInt } = crypto;
  const drawn: number[] = [];
  const draw = (least: number, most: number) => {
    const port = drawn.length === 0 ? taken : randomInt(least, most);
    drawn.push(port);
    return port;
  };
  const mocked = t.mock.method(crypto, 'randomInt', draw as typeof randomInt);
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  const port = await reserveFreePort();
  assert.deepEqual([drawn[0], drawn.at(-1)], [taken, port]);
  assert.notEqual(port, taken);
});

test('a file has a port only if it has the number of one', async () => {
  const file = await awkwardFolder();
  assert.equal(await readPort(file), undefined);
  await mkdir(dirname(file), { recursive: true });
  for (const [text, port] of [
    ['1\n', 1],
    ['65535', 65_535],
    ['0', undefined],
    ['65536', undefined],
    ['1.5', undefined],
    ['', undefined],
    ['a port', undefined],
  ] as const) {
    await writeFile(file, text);
    assert.equal(await readPort(file), port, text);
  }
});
