import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, mock, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { scopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { sections } from '../../../src/api/endpoints.ts';
import { plainImage } from '../../support/hostile/hostile-images.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { referenceSamples, type ReferenceSample } from '../../support/documents/reference-samples.ts';

const run = promisify(execFile);
const home = process.cwd();

/** The service understood the request: it may have no task, key or callback of the sample's id. */
const understood: readonly (number | undefined)[] = [200, 202, 204, 302, 404, 409, 410];

let service: HttpService;
let folder: string;
let samples: readonly ReferenceSample[];
before(async () => {
  service = await startHttpService();
  const { key } = await service.newAccount(100_000, scopes);
  process.env['VIDEOGEN_API_KEY'] = key;
  folder = await mkdtemp(join(tmpdir(), 'videogen-samples-'));
  await writeFile(join(folder, 'boat.jpg'), await plainImage(400, 400).jpeg().toBuffer());
  // The endpoints of `kie` need a key of that dialect.
  const shown = sections
    .filter(({ tag, isForOperators = false }) => !isForOperators && tag !== 'kie')
    .flatMap(({ endpoints }) => endpoints);
  const ids = shown.map(({ operationId }) => operationId);
  samples = referenceSamples(service.deps.catalogue(), service.url).filter(({ operationId }) =>
    ids.includes(operationId),
  );
  // The samples name files in the working folder.
  process.chdir(folder);
});
after(async () => {
  process.chdir(home);
  await service.close();
  await rm(folder, { recursive: true });
});

function assertUnderstood(outcomes: ReadonlyMap<string, number | undefined>): void {
  assert.equal(outcomes.size, samples.length);
  assert.deepEqual(
    [...outcomes].filter(([, status]) => !understood.includes(status)),
    [],
  );
  assert.ok([...outcomes.values()].filter((status) => status === 200).length > samples.length / 2);
}

describe('samples for clients, run as they are shown, are requests that the service understands', () => {
  test('with curl', async () => {
    const reporting = `curl() { command curl -s -o response -w '%{http_code}\\n' "$@"; }`;
    const script = [reporting, ...samples.map(({ sh }) => sh)].join('\n');
    const { stdout } = await run('bash', ['-c', script], { cwd: folder });
    const statuses = stdout.trim().split('\n').map(Number);
    assertUnderstood(new Map(samples.map(({ operationId }, index) => [operationId, statuses[index]])));
  });

  test('in TypeScript', async () => {
    await writeFile(join(folder, 'package.json'), '{"type": "module"}');
    await symlink(join(home, 'node_modules'), join(folder, 'node_modules'));
    const client = pathToFileURL(join(home, 'clients/typescript/dist/index.js')).href;
    // The types are checked by reference.test.ts.
    for (const { operationId, ts } of samples)
      await writeFile(
        join(folder, `${operationId}.ts`),
        `${ts.replace("'videogen-client'", `'${client}'`)}\nexport {};\n`,
      );
    const files = samples.map(({ operationId }) => `${operationId}.ts`);
    const flags = ['--module', 'nodenext', '--target', 'es2023', '--noCheck', '--types', 'node', '--outDir', 'made'];
    await run(process.execPath, [resolve(home, 'node_modules/typescript/bin/tsc'), ...flags, ...files], {
      cwd: folder,
    });
    const printed = mock.method(console, 'log', () => undefined);
    const outcomes = new Map<string, number | undefined>();
    for (const { operationId } of samples) {
      const program = pathToFileURL(join(folder, 'made', `${operationId}.js`)).href;
      outcomes.set(operationId, await import(program).then(() => 200, statusOf));
    }
    printed.mock.restore();
    assertUnderstood(outcomes);
  });
});

/** The status of an error of our client, or of a sample without it. */
function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'number') return error.code;
  return Number(/^\d{3}(?=: )/.exec(error.message)?.[0]);
}
