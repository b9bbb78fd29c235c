import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { defaultModels } from '../../src/models/model.ts';
import { findTask, refundTask } from '../../src/tasks/tasks.ts';
import { catalogueOf, startHttpService } from '../support/http-service.ts';
import { endOf } from '../support/programs.ts';
import { spawnVideogen } from '../support/videogen.ts';
import { waitFor } from '../support/wait-for.ts';

test('generate finds the service of the data folder, and requests a model that it offers', async (t) => {
  const catalogue = catalogueOf(defaultModels.filter(({ model }) => model === 'videogen-2.0'));
  const service = await startHttpService({ catalogue: () => catalogue });
  t.after(() => service.close());
  const folder = await mkdtemp(join(tmpdir(), 'videogen-generate-'));
  t.after(() => rm(folder, { recursive: true }));
  // `videogen start` records it.
  await writeFile(join(folder, 'address'), `${service.url}\n`);
  const { key } = await service.newAccount(1_000);
  const { PUBLIC_URL: _, ...env } = process.env;
  const command = spawnVideogen({ ...env, VIDEOGEN_DATA: folder, VIDEOGEN_API_KEY: key }, 'generate', 'a lighthouse');
  const { taskId } = await waitFor('the task', () => {
    assert.equal(command.child.exitCode, null, command.stderr());
    return service.started[0];
  });
  assert.equal((await findTask(service.database.db, taskId))?.param.model, 'videogen-2.0');
  await refundTask(service.database.db, taskId, { failCode: 'timeout', failMsg: 'Too long.' });
  const { code } = await endOf(command.child);
  assert.equal(code, 1);
  assert.match(command.stderr(), /timeout: Too long\./);
});
