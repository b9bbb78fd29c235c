import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createClient } from '../../../clients/typescript/src/index.ts';
import { processesOf } from '../../support/processes/processes.ts';
import { createTestAccount, startTestService, type TestService } from '../../support/service/test-service.ts';
import { skipWithoutTerminal, tooWide, type Terminal, videogenInTerminal } from '../../support/processes/terminal.ts';
import { waitFor } from '../../support/wait-for.ts';

function shows(terminal: Terminal, pattern: RegExp): Promise<RegExpExecArray> {
  return waitFor(String(pattern), () => {
    const found = pattern.exec(terminal.output());
    assert.ok(found !== null || terminal.child.exitCode === null, terminal.output());
    return found ?? undefined;
  });
}

describe('Ctrl-C during a generation', { skip: skipWithoutTerminal }, () => {
  let service: TestService;
  let env: NodeJS.ProcessEnv;
  let folder: string;
  let client: ReturnType<typeof createClient>;
  before(async () => {
    service = await startTestService();
    const { key } = await createTestAccount(service.database);
    env = { ...process.env, VIDEOGEN_API_KEY: key, PUBLIC_URL: service.baseUrl };
    client = createClient({ baseUrl: service.baseUrl, key });
    folder = await mkdtemp(join(tmpdir(), 'videogen-terminal-'));
  });
  after(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });

  test('generate prints task and price first, and Ctrl-C cancels the task, prints the refund, and exits with 130', async () => {
    const terminal = videogenInTerminal(env, folder, 'generate', '[[hang]] a storm', '--duration', '4');
    const [, taskId = ''] = await shows(terminal, /Task ([0-9a-f-]{36}): 132 credits/);
    await shows(terminal, /\d+ % {2}generating, \d+ s/);
    terminal.pressCtrlC();
    assert.equal(await terminal.exited, 130, terminal.output());
    assert.match(terminal.output(), new RegExp(`${taskId} is cancelled: 132 credits refunded`));
    const { state, failCode, creditsRefunded } = await client.recordInfo(taskId);
    assert.deepEqual([state, failCode, creditsRefunded], ['fail', 'cancelled', 132]);
    assert.deepEqual(tooWide(terminal.output()), []);
  });

  test('follow waits for an existing task; Ctrl-C leaves it running, and prints how to continue', async () => {
    const { taskId } = await client.createTask({ model: 'videogen-2.0-fast', input: { prompt: '[[hang]] waits' } });
    const terminal = videogenInTerminal(env, folder, 'follow', taskId);
    await shows(terminal, /\d+ % {2}generating/);
    terminal.pressCtrlC();
    assert.equal(await terminal.exited, 130, terminal.output());
    assert.match(terminal.output(), new RegExp(`continues; follow it with: .* follow ${taskId}`));
    assert.equal((await client.recordInfo(taskId)).state, 'generating');
    await client.cancelTask(taskId);
  });
});

describe('the demo in a terminal', { skip: skipWithoutTerminal }, () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-terminal-demo-'));
    env = { ...process.env, TMPDIR: folder };
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const assertDeleted = async () => {
    assert.deepEqual(await processesOf({ folder: folder }), []);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.startsWith('videogen-demo-')),
      [],
    );
  };

  test('Ctrl-C during the progress line, pressed twice, stops every server, deletes their folder and exits with 130', async () => {
    const terminal = videogenInTerminal(env, folder, 'demo', 'a red kite');
    await shows(terminal, /\d+ % {2}(waiting|queuing|generating), \d+ s/);
    terminal.pressCtrlC();
    await shows(terminal, /stopping the servers/);
    terminal.pressCtrlC();
    assert.equal(await terminal.exited, 130, terminal.output());
    await assertDeleted();
  });

  test('it ignores the settings of a service, fits into 80 columns, and leaves its video', async () => {
    const strangers = { DATABASE_URL: 'postgres://user@127.0.0.1:1/none', PGSSLMODE: 'require', HOST: '192.0.2.1' };
    const others = { PUBLIC_URL: 'http://192.0.2.1', RESULT_STORE: '/proc/none', TEMPORAL_ADDRESS: '127.0.0.1:1' };
    const terminal = videogenInTerminal({ ...env, ...strangers, ...others }, folder, 'demo', 'a red kite');
    assert.equal(await terminal.exited, 0, terminal.output());
    const output = terminal.output();
    assert.doesNotMatch(output, /192\.0\.2\.1/);
    const film = /file:\/\/\S+\.mp4/.exec(output)?.[0] ?? assert.fail(output);
    assert.ok(existsSync(fileURLToPath(film)));
    assert.match(output, /100 %|\d+ % {2}\w+, \d+ s/);
    assert.match(output, /credits\s+(│\s+)?were\s+(│\s+)?refunded/);
    // A link or a path is one word, which a terminal breaks anywhere.
    const wordsOf = (line: string) => line.replace('│', '').trim().split(/\s+/);
    assert.deepEqual(
      tooWide(output).filter((line) => wordsOf(line).length > 1),
      [],
    );
    await assertDeleted();
  });
});
