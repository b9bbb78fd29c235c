import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { listTasks } from '../../../../src/tasks/list/task-list.ts';
import { createTestAccount, startTestService } from '../../../support/service/test-service.ts';

// NVIDIA's load generator. ops/ci/provision.sh --long installs it.

const program = process.env['VIDEOGEN_TEST_AIPERF'] ?? '';
const skip = !existsSync(program) && 'aiperf is not installed';

test('aiperf makes and downloads videos, and reports no error', { skip }, async (t) => {
  const service = await startTestService();
  t.after(() => service.close());
  const { accountId, key } = await createTestAccount(service.database);
  const folder = await mkdtemp(join(tmpdir(), 'videogen-aiperf-'));
  t.after(() => rm(folder, { recursive: true }));
  const prompts = ['a', 'b', 'c', 'd'].map((name) => JSON.stringify({ text: `[[instant]] ${name}` }));
  await writeFile(join(folder, 'prompts.jsonl'), prompts.join('\n'));
  await writeTokenizer(join(folder, 'tokenizer'));
  const options = {
    '--model': 'videogen-2.0-fast',
    '--url': service.baseUrl,
    '--endpoint-type': 'video_generation',
    '--api-key': key,
    '--input-file': join(folder, 'prompts.jsonl'),
    '--custom-dataset-type': 'single_turn',
    '--extra-inputs': 'seconds:4',
    '--tokenizer': join(folder, 'tokenizer'),
    '--request-count': '4',
    '--concurrency': '2',
    '--ui': 'none',
    '--artifact-dir': join(folder, 'artifacts'),
  };
  const args = ['profile', ...Object.entries(options).flat(), '--download-video-content'];
  const { stdout, stderr } = await promisify(execFile)(program, args, { cwd: folder, timeout: 600_000 });
  const tasks = await listTasks(service.database.db, { accountId, limit: 100 });
  assert.deepEqual(
    tasks.map(({ state }) => state),
    ['success', 'success', 'success', 'success'],
    stdout + stderr,
  );
  assert.match(stdout + stderr, /Processed 4 valid requests and 0 errors/);
});

/** It counts the words of prompts. Without one of ours, aiperf downloads one. */
async function writeTokenizer(folder: string): Promise<void> {
  const tokenizer = {
    version: '1.0',
    added_tokens: [],
    pre_tokenizer: { type: 'Whitespace' },
    model: { type: 'WordLevel', vocab: { '[UNK]': 0, a: 1 }, unk_token: '[UNK]' },
  };
  const config = { tokenizer_class: 'PreTrainedTokenizerFast', unk_token: '[UNK]' };
  await mkdir(folder);
  await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  await writeFile(join(folder, 'tokenizer_config.json'), JSON.stringify(config));
}
