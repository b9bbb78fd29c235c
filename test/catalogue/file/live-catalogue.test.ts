import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { catalogueSecretReader } from '../../../src/run/config/config.ts';
import { ConfigError } from '../../../src/platform/setup-errors-and-error-messages.ts';
import { createLiveCatalogue, type LiveCatalogueOptions } from '../../../src/catalogue/file/live-catalogue.ts';
import { recordEvents, silentEvents } from '../../support/service/metric-event-sinks.ts';
import { assertSince } from '../../support/assert-since.ts';

const workflow = JSON.stringify({ 1: { class_type: 'SaveVideo' } });

function catalogueOf(names: readonly string[], more: object = {}): string {
  const models = names.map((model) => ({ model, title: model, prices: [{ creditsPerSecond: 1 }], ...more }));
  const providers = { comfy: { kind: 'comfyui', baseUrl: 'http://127.0.0.1:8188' } };
  return JSON.stringify({ providers, models });
}

/** A live catalogue of a file with one model `a`, and all that it logs. */
function started(context: TestContext, text = catalogueOf(['a']), source: Partial<LiveCatalogueOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'videogen-live-'));
  const path = join(folder, 'catalogue.json');
  const write = (content: string, name = 'catalogue.json') => writeFileSync(join(folder, name), content);
  write(workflow, 'w.json');
  write(text);
  const logged: object[] = [];
  const record = (fields: object, message?: string) => void logged.push({ ...fields, message });
  const log = { info: record, error: record };
  context.after(() => rmSync(folder, { recursive: true }));
  const wiring = { part: 'worker', events: silentEvents } as const;
  const live = createLiveCatalogue({ path, log, readSecret: catalogueSecretReader(folder, {}), ...wiring, ...source });
  context.after(() => live.close());
  const names = () => [...live.current().models.keys()];
  /** A change counts when two checks find the same. */
  const settle = async () => {
    await live.check();
    await live.check();
  };
  const isStale = () => live.state().refused !== undefined;
  return { live, path, write, logged, names, settle, isStale };
}

test('a changed file is another catalogue; the one before stays as it was for those who hold it', async (context) => {
  const { live, write, names, settle, path, logged } = started(context);
  const before = live.current();
  await settle();
  assert.equal(live.current(), before, 'nothing changed');
  write(catalogueOf(['b']));
  await settle();
  assert.deepEqual([names(), [...before.models.keys()]], [['b'], ['a']]);
  assert.deepEqual(logged, [{ path, models: ['b'], message: 'catalogue reloaded' }]);
});

test('a file that changes between two checks is not taken before it rests', async (context) => {
  const { live, write, names } = started(context);
  write(catalogueOf(['b']));
  await live.check();
  write(catalogueOf(['b', 'c']));
  await live.check();
  assert.deepEqual(names(), ['a']);
  await live.check();
  assert.deepEqual(names(), ['b', 'c']);
});

test('an invalid file leaves the catalogue in force, and all its problems are logged once', async (context) => {
  const { path, write, names, settle, logged, isStale } = started(context);
  const rejected = 'catalogue change rejected; the previous catalogue stays in force';
  write(catalogueOf(['a'], { fit: '4k', deadlineSeconds: 1 }));
  await settle();
  await settle();
  assert.deepEqual([names(), isStale()], [['a'], true]);
  const problems = [
    `${path}: models[0].deadlineSeconds: must be at least 10`,
    `${path}: models[0].fit: must be one of keep, convert`,
  ];
  assert.deepEqual(logged, [{ path, problems, message: rejected }]);
  write(catalogueOf(['a'], { fit: '4k' }));
  await settle();
  assert.deepEqual(logged.slice(1), [{ path, problems: problems.slice(1), message: rejected }]);
  write(catalogueOf(['a', 'b']));
  await settle();
  assert.deepEqual([names(), isStale()], [['a', 'b'], false]);
});

test('the state names the file, the version of its content, and the reload that was refused, and each reload has the catalogue before and after', async (context) => {
  const reloads: unknown[] = [];
  const sinceMs = Date.now();
  const { live, path, write, settle } = started(context, catalogueOf(['a']), {
    onReload: (before, after) => void reloads.push([[...before.models.keys()], [...after.models.keys()]]),
  });
  const first = live.state();
  assert.deepEqual(first, { ...first, path, refused: undefined });
  assert.match(first.version, /^[0-9a-f]{12}$/);
  assertSince(sinceMs, first.loadedAt);
  const changedMs = Date.now();
  write('{');
  await settle();
  const { refused, ...inForce } = live.state();
  assert.deepEqual({ ...inForce, refused: undefined }, first);
  assert.ok(refused !== undefined && refused.problems.length > 0);
  assertSince(changedMs, refused.at);
  write(catalogueOf(['b']));
  await settle();
  const second = live.state();
  assert.deepEqual([second.path, second.refused], [path, undefined]);
  assert.notEqual(second.version, first.version);
  write(catalogueOf(['a']));
  await settle();
  assert.equal(live.state().version, first.version);
  assert.deepEqual(reloads, [
    [['a'], ['b']],
    [['b'], ['a']],
  ]);
});

test('a file that goes back to what is in force is no longer stale', async (context) => {
  const { write, settle, isStale } = started(context);
  write('{');
  await settle();
  assert.equal(isStale(), true);
  write(catalogueOf(['a']));
  await settle();
  assert.equal(isStale(), false);
});

test('a file that is deleted leaves the catalogue in force', async (context) => {
  const { path, names, settle, isStale } = started(context);
  rmSync(path);
  await settle();
  assert.deepEqual([names(), isStale()], [['a'], true]);
});

test('a file that the catalogue refers to is watched as well', async (context) => {
  const tiers = [[{ provider: 'comfy', parameters: { workflow: './w.json' } }]];
  const { live, write, settle, isStale } = started(context, catalogueOf(['a'], { tiers }));
  const changed = { 1: { class_type: 'SaveWEBM' } };
  write(JSON.stringify(changed), 'w.json');
  await settle();
  assert.deepEqual(live.current().files.get('./w.json'), changed);
  write('{}', 'w.json');
  await settle();
  assert.equal(isStale(), true);
  write(workflow, 'w.json');
  await settle();
  assert.equal(isStale(), false);
});

test('a missing secret that is supplied later needs no change of the file', async (context) => {
  const { live, write, settle, isStale } = started(context);
  const providers = { script: { kind: 'own', baseUrl: 'http://x', key: { file: './script.key' } } };
  write(JSON.stringify({ providers, models: [{ model: 'a', title: 'a', prices: [{ creditsPerSecond: 1 }] }] }));
  await settle();
  assert.equal(isStale(), true);
  write('sk-1', 'script.key');
  await live.check();
  assert.deepEqual([isStale(), live.current().providers.has('script')], [false, true]);
});

test('a file that is invalid at the start stops it, and without a file the catalogue is the built-in one', async (context) => {
  assert.throws(() => started(context, '{}'), ConfigError);
  const events = recordEvents('catalogue_read');
  const sinceMs = Date.now();
  const { names, settle, live, logged } = started(context, undefined, { path: undefined, events });
  await settle();
  const { loadedAt, ...state } = live.state();
  assertSince(sinceMs, loadedAt);
  assert.deepEqual([state, logged], [{ path: undefined, version: 'built-in', refused: undefined }, []]);
  assert.deepEqual(events.seen, [{ kind: 'catalogue_read', part: 'worker', isRefused: false }]);
  assert.deepEqual(names(), ['videogen-2.0', 'videogen-2.0-fast']);
});

test('each read of the file is counted, by whether it was refused', async (context) => {
  const events = recordEvents('catalogue_read');
  const { write, settle } = started(context, catalogueOf(['a']), { events });
  write('{');
  await settle();
  write(catalogueOf(['b']));
  await settle();
  const read = (isRefused: boolean) => ({ kind: 'catalogue_read', part: 'worker', isRefused });
  assert.deepEqual(events.seen, [read(false), read(true), read(false)]);
});
