import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ResultStore } from '../../../src/media/store/result-store.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { createFolderStore } from '../../support/folder-store.ts';
import { rawConnection } from '../../support/proxies/raw-http.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { openFiles } from '../../support/processes/open-files.ts';
import { runsWholeMatrix } from '../../support/tier.ts';
import { waitFor } from '../../support/wait-for.ts';

const bigKey = 'results/0193/big.mp4';
const bigBytes = 64 * 1024 * 1024;

let database: TestDatabase;
let folder: string;
let store: ResultStore;
let service: HttpService;
/** Path and query of the link to the big file. */
let link: string;
before(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'videogen-downloads-'));
  store = createFolderStore(join(folder, 'results'), { publicUrl: 'http://x' });
  service = await startHttpService({ database, resultStore: store });
  const source = join(folder, 'source');
  await writeFile(source, Buffer.alloc(bigBytes));
  await store.put(bigKey, source);
  link = store.link(bigKey).slice('http://x'.length);
});
after(async () => {
  await service.close();
  await database.close();
  await rm(folder, { recursive: true });
  assert.ok(!service.log.some((line) => line['failure'] === 'internal'), 'request crashed');
});

const openBigFiles = () => openFiles(/big\.mp4$/).length;

function abortedBigFiles(): number {
  return service.log.filter((line) => line['path'] === `/media/${bigKey}` && line['aborted'] === true).length;
}

test('close lets a running download end and then closes its keep-alive connection', async () => {
  const own = await startHttpService({ database, resultStore: store });
  const client = rawConnection(own.server.port);
  client.write(`GET ${link} HTTP/1.1\r\nHost: x\r\n\r\n`);
  // The head contains keep-alive, and it has been sent as soon as anything arrives.
  await once(client.socket, 'data');
  client.socket.pause();
  assert.equal(openBigFiles(), 1);
  const closed = own.close(60_000);
  client.socket.resume();
  const text = await client.closed;
  assert.match(text.slice(0, 1000), /^HTTP\/1\.1 200 OK.*Connection: keep-alive/s);
  assert.equal(text.length - text.indexOf('\r\n\r\n') - 4, bigBytes);
  await closed;
});

test('a client that disconnects during a download closes the file, and the file was not read into memory', async () => {
  const memory = process.memoryUsage().arrayBuffers;
  const clients = Array.from({ length: 8 }, () => {
    const client = rawConnection(service.server.port);
    client.socket.pause();
    client.write(`GET ${link} HTTP/1.1\r\nHost: x\r\n\r\n`);
    return client;
  });
  await waitFor('eight open files', () => (openBigFiles() === 8 ? true : undefined));
  const grown = process.memoryUsage().arrayBuffers - memory;
  // Other test files of the process use memory, too, so the bound holds only for a file that runs alone.
  if (runsWholeMatrix) assert.ok(grown < bigBytes, `${grown} bytes in buffers`);
  for (const client of clients) client.socket.resetAndDestroy();
  await waitFor('no open file', () => (openBigFiles() === 0 ? true : undefined));
  await waitFor('eight lines of aborted requests', () => (abortedBigFiles() === 8 ? true : undefined));
});
