import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { startApi } from '../../../src/run/main/start-api.ts';
import { createTestEnvironment } from '../../support/service/test-service.ts';

/** Returns the warnings about sessions that an API logs at its start. */
async function warnedOf(publicUrl: string): Promise<readonly string[]> {
  const environment = await createTestEnvironment({ PUBLIC_URL: publicUrl });
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  try {
    const api = await startApi(environment.settings, log);
    await api.close();
  } finally {
    await environment.close();
  }
  return lines.filter((line) => line.includes('console sessions'));
}

test('an API at plain http to other machines warns that sessions travel unencrypted, and no other does', async () => {
  assert.equal((await warnedOf('http://192.168.7.7:3000')).length, 1);
  for (const safe of ['https://video.example.com', 'http://127.0.0.1:3000']) assert.deepEqual(await warnedOf(safe), []);
});
