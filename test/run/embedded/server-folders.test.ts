import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../../src/run/config/config.ts';
import { readRecordedCatalogue, recordCataloguePath } from '../../../src/run/embedded/recorded-catalogue-path.ts';
import { embeddedFoldersByName } from '../../../src/run/embedded/server-folders.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('a data folder has a folder for each server that is not configured', () => {
  const data = { VIDEOGEN_DATA: '/srv' };
  const database = { DATABASE_URL: 'postgres://db.test/films', VIDEOGEN_SECRET: 's'.repeat(32) };
  const temporal = { TEMPORAL_ADDRESS: 'temporal.test:7233' };
  const all = { 'data folder': '/srv', database: '/srv/postgres', Temporal: '/srv/temporal' };
  const { database: postgres, Temporal, ...own } = all;
  assert.deepEqual(
    [{}, database, temporal, { ...database, ...temporal }].map((servers) =>
      embeddedFoldersByName(readConfig({ ...data, ...servers })),
    ),
    [all, { ...own, Temporal }, { ...own, database: postgres }, own],
  );
});

test('a folder names the catalogue of its last service, which has an absolute path', async (t) => {
  const folder = await temporaryFolder(t);
  assert.equal(readRecordedCatalogue(folder), undefined);
  await recordCataloguePath(folder, '/srv/catalogue.yaml');
  assert.equal(readRecordedCatalogue(folder), '/srv/catalogue.yaml');
  await writeFile(join(folder, 'catalogue'), 'catalogue.yaml');
  assert.equal(readRecordedCatalogue(folder), undefined);
  await recordCataloguePath(folder, undefined);
  await recordCataloguePath(folder, undefined);
  assert.equal(readRecordedCatalogue(folder), undefined);
});
