import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, test } from 'node:test';
import { z } from 'zod';

const script = resolve('ops/release.sh');
const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync('package.json', 'utf8')));
const helm = process.env['VIDEOGEN_TEST_HELM'];
const tools = process.env['VIDEOGEN_TEST_PYTHON_CLIENT_TOOLS'];
const skip = (helm === undefined || tools === undefined) && 'there is no helm, or no tools of the Python client, here';

describe('ops/release.sh', () => {
  const folder = mkdtempSync(join(tmpdir(), 'videogen-release-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('names every file that has another version, and builds nothing', () => {
    const out = join(folder, 'refused');
    const { status, stderr } = spawnSync(script, ['999.0.0', out], { encoding: 'utf8' });
    assert.equal(status, 1);
    const named = stderr.trim().split('\n');
    const files = ['package.json', 'clients/typescript/package.json', 'clients/python/pyproject.toml'];
    const chart = 'ops/helm/videogen/Chart.yaml';
    assert.deepEqual(
      named.map((line) => line.replace(/: .*/, '')),
      [...files, chart, chart],
    );
    assert.equal(existsSync(out), false);
  });

  test('builds the clients and the chart with their checksums', { skip }, () => {
    const out = join(folder, 'built');
    // The build backend of the tools, so that pip needs no registry; pip reads 0 as "no isolation".
    const offline = { PIP_NO_INDEX: '1', PIP_NO_BUILD_ISOLATION: '0', PATH: `${tools}/bin:${process.env['PATH']}` };
    execFileSync(script, [version, out], { env: { ...process.env, ...offline, HELM: helm }, stdio: 'pipe' });
    const [npmArchive, chart] = [`videogen-client-${version}.tgz`, `videogen-${version}.tgz`];
    const built = [npmArchive, chart, `videogen_gateway-${version}-py3-none-any.whl`];
    assert.deepEqual(readdirSync(out).toSorted(), [...built, 'SHA256SUMS'].toSorted());
    const sums = readFileSync(join(out, 'SHA256SUMS'), 'utf8').trim().split('\n');
    const sumOf = (name: string) =>
      createHash('sha256')
        .update(readFileSync(join(out, name)))
        .digest('hex');
    assert.deepEqual(sums.toSorted(), built.map((name) => `${sumOf(name)}  ${name}`).toSorted());
    const filesIn = (archive: string) => execFileSync('tar', ['-tzf', join(out, archive)], { encoding: 'utf8' });
    assert.match(filesIn(npmArchive), /^package\/dist\/index\.js$/m);
    assert.match(filesIn(chart), /^videogen\/templates\/\S+\.yaml$/m);
    assert.doesNotMatch(filesIn(chart), /^videogen\/ci\//m);
  });
});
