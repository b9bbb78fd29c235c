import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { test } from 'node:test';
import {
  filesUnder,
  type Import,
  importLine,
  imports,
  importsOf,
  isOurs,
  reachedFrom,
  sourceFiles,
} from './support/imports.ts';

/**
 * The rooms, from the ground up. A room imports those before it in this list, types included, and none after it.
 */
const rooms = [
  'platform',
  'catalogue',
  'accounts',
  'credits',
  'media',
  'providers',
  'tasks',
  'library',
  'temporal',
  'api',
  'run',
] as const;

/** These folders stand at the top level, in the room of durable execution. */
const durable = ['activities', 'workflows'];

// One door to each outside thing: only these folders may import these packages.
const doors: Record<string, readonly string[]> = {
  pg: ['src/platform/database', 'src/run/schema', 'src/run/embedded'],
  kysely: ['src/run/schema'],
  koa: ['src/api'],
  '@koa/router': ['src/api'],
  '@temporalio/client': ['src/temporal', 'src/run/main', 'src/run/embedded'],
  '@temporalio/worker': ['src/temporal', 'src/run/main'],
  '@temporalio/workflow': ['workflows'],
  '@temporalio/activity': ['activities'],
  '@temporalio/envconfig': ['src/run/config'],
  '@temporalio/interceptors-opentelemetry': ['src/run/main', 'workflows'],
  '@opentelemetry/sdk-trace-base': ['src/run/main'],
  '@opentelemetry/exporter-trace-otlp-proto': ['src/run/main'],
  'prom-client': ['src/run/metrics'],
  sharp: ['src/media', 'src/providers'],
  '@node-rs/argon2': ['src/accounts/sign-in'],
  'openid-client': ['src/accounts/sign-in'],
  nodemailer: ['src/platform/mail'],
  '@simplewebauthn/server': ['src/api/sign-in'],
  '@modelcontextprotocol/server': ['src/api/mcp'],
  // Opens sockets to Stripe's own address only.
  stripe: ['src/credits/payments/stripe'],
  // Also for the wheel of the Python client, at the build.
  yazl: ['src/library/gallery', 'src/run/build'],
  '@aws-sdk/client-s3': ['src/media/store'],
  '@aws-sdk/s3-request-presigner': ['src/media/store'],
};

// These modules open sockets if the pattern matches an imported name.
const socketNames: Record<string, RegExp> = {
  'node:http': /\b(?:request|get|Agent|globalAgent)\b|\*/,
  'node:https': /./,
  'node:http2': /./,
  'node:net': /\b(?:connect|createConnection|Socket)\b|\*/,
  'node:tls': /./,
  'node:dgram': /./,
  undici: /./,
};

// Sockets to the outside open in src/platform/outbound alone. These folders open some to what is not outside.
const opensSockets: Record<string, string> = {
  'src/platform/outbound': 'guards every address that a client may have given',
  'src/console': 'calls its own service from the browser',
  'src/run/cli': 'calls the service that its user names',
  'src/run/embedded': 'calls the servers that it starts itself, and downloads programs from addresses in its own code',
};

test('each source file stands in one of the eleven rooms, or in the console', () => {
  const outside = sourceFiles().filter((file) => roomOf(file) === -1 && !isIn('src/console', file));
  assert.deepEqual(outside, []);
});

test('a room imports only the rooms before it, and none imports the console', () => {
  // The command line is a client of the API, too: the package in `clients` stands in no room, and imports nothing.
  const forbidden = imports().filter(
    ({ file, to }) =>
      isOurs(to) && !isIn('src/console', file) && (roomOf(to) > roomOf(file) || isIn('src/console', to)),
  );
  assert.deepEqual(forbidden, []);
  assert.ok(
    imports().some(({ file, to }) => roomOf(file) > roomOf(to) && roomOf(to) >= 0),
    'the rooms were found',
  );
});

test('no folder holds more than 15 files, and no two files have one name', () => {
  const files = [...sourceFiles(), ...filesUnder('test')];
  const full = [...grouped(files, dirname)].filter(([, { length }]) => length > 15);
  assert.deepEqual(full, []);
  // A workflow has the name of its activity.
  const others = files.filter((file) => !isIn('workflows', file));
  const repeated = [...grouped(others, (file) => basename(file)).values()].filter(({ length }) => length > 1);
  assert.deepEqual(repeated, []);
});

test('rows of jobs and pools change in src/tasks/jobs', () => {
  const writes = /(?:insert into|update) (?:provider_jobs|provider_pools)\b/;
  const writers = filesUnder('src').filter((file) => writes.test(readFileSync(file, 'utf8')));
  assert.ok(writers.length > 5, 'the statements were found');
  const elsewhere = writers.filter((file) => !file.startsWith('src/tasks/jobs/'));
  // The heartbeat of attempts also renews their slots, and the deletion of content clears the texts of jobs.
  assert.deepEqual(elsewhere, ['src/tasks/end/content-deletion-rows.ts', 'src/tasks/task-rows.ts']);
});

test('what runs in a browser reaches no module of Node and not zod', () => {
  const isValue = ({ typeOnly }: Import) => !typeOnly;
  const shared = reachedFrom(filesUnder('src/console'), isValue).filter(
    (file) => isOurs(file) && !file.startsWith('src/console/'),
  );
  assert.ok(shared.length > 0, 'shared files were found');
  const outside = reachedFrom(shared, isValue).filter((name) => /^(?:node:|zod$)/.test(name));
  assert.deepEqual(outside, []);
});

test('the console: ui imports no route, feature or page, and api only itself', () => {
  const part = (file: string) => /^src\/console\/(\w+)\//.exec(file)?.[1];
  const forbidden = imports().filter(({ file, to }) => {
    const allowed = { ui: ['ui', 'api'], api: ['api'] }[part(file) ?? ''];
    return allowed !== undefined && to.startsWith('src/console/') && !allowed.includes(part(to) ?? '');
  });
  assert.ok(
    imports().some(({ file }) => part(file) === 'ui'),
    'the parts were found',
  );
  assert.deepEqual(forbidden, []);
});

test('no file imports itself through others, not even for types', () => {
  const targets = new Map<string, readonly string[]>();
  for (const { file, to } of imports()) targets.set(file, [...(targets.get(file) ?? []), to]);
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (path.includes(file) || done.has(file)) return;
    for (const to of targets.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  assert.deepEqual(cycles, []);
});

test('each outside thing has one door', () => {
  const forbidden = imports().filter(({ file, to, typeOnly }) => {
    const folders = doors[to];
    return folders !== undefined && !typeOnly && !folders.some((folder) => isIn(folder, file));
  });
  assert.deepEqual(forbidden, []);
});

test('only src/platform/outbound opens sockets to the outside', () => {
  const opening = sourceFiles().filter(
    (file) => !Object.keys(opensSockets).some((folder) => isIn(folder, file)) && waysOut(file).length > 0,
  );
  assert.deepEqual(opening, []);
  for (const folder of Object.keys(opensSockets)) {
    assert.ok(
      filesUnder(folder).some((file) => waysOut(file).length > 0),
      `${folder} opens sockets, as the table states`,
    );
  }
});

test('only src/run/config/config.ts reads the environment', () => {
  const readers = sourceFiles().filter((file) => readFileSync(file, 'utf8').includes('process.env'));
  assert.deepEqual(readers, ['src/run/config/config.ts']);
});

test('only src/credits writes the ledger', () => {
  const writes = /\b(?:insert\s+into|update|delete\s+from|merge\s+into|copy|truncate)\s+(?:only\s+)?ledger_entries\b/i;
  const writers = sourceFiles().filter((file) => writes.test(readFileSync(file, 'utf8')));
  assert.ok(writers.length > 0, 'the statements were found');
  assert.deepEqual(
    writers.filter((file) => !isIn('src/credits', file)),
    [],
  );
});

test('zod and node modules are out of reach of workflow code, whose every error must be a known one', () => {
  const packages = reachedFrom(['workflows/index.ts'], ({ typeOnly }) => !typeOnly).filter((name) => !isOurs(name));
  assert.deepEqual(packages, ['@temporalio/common', '@temporalio/workflow']);
});

test('each prepared statement has a name of its own, for a connection refuses a second text under one name', () => {
  const statement = /\bname: '([^']+)',\s*text:/g;
  const names = sourceFiles().flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(statement)].map(([, name]) => name),
  );
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  assert.deepEqual(repeated, []);
  assert.ok(names.length > 30, 'the statements were found');
});

test('there is no barrel but the two tables of contents', () => {
  const barrels = sourceFiles().filter((file) => file.endsWith('/index.ts'));
  assert.deepEqual(barrels, ['activities/index.ts', 'workflows/index.ts']);
});

test('the client that others install imports nothing but its own files, not even types', () => {
  const home = 'clients/typescript/src';
  const foreign = filesUnder(home)
    .flatMap(importsOf)
    .filter(({ to }) => dirname(to) !== home);
  assert.deepEqual(foreign, []);
  assert.ok(filesUnder(home).length > 10, 'its files were found');
});

/** The position of the file's room in the list; -1 without one. */
function roomOf(path: string): number {
  const [first = '', second = ''] = path.split('/');
  const room = durable.includes(first) ? 'temporal' : first === 'src' ? second : '';
  return rooms.findIndex((one) => one === room);
}

function grouped(files: readonly string[], keyOf: (file: string) => string): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, readonly string[]>();
  for (const file of files) groups.set(keyOf(file), [...(groups.get(keyOf(file)) ?? []), file]);
  return groups;
}

function isIn(folder: string, file: string): boolean {
  return file.startsWith(`${folder}/`);
}

/** Lists what opens sockets in a file: imports of values, and calls of global functions. */
function waysOut(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8');
  const imported = [...text.matchAll(importLine)].flatMap(([line, type, names, from, dynamic]) => {
    const pattern = socketNames[from ?? dynamic ?? ''];
    const values =
      dynamic === undefined ? (names ?? '*').replaceAll(/\btype\s+\w+/g, '').replaceAll(/[{},\s]/g, ' ') : '*';
    return type === undefined && pattern?.test(values.trim()) === true ? [line.trim()] : [];
  });
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
  const called = /(?:(?<![.\w])|globalThis\.)(?:fetch\(|new (?:WebSocket|EventSource)\()/.exec(code);
  return called === null ? imported : [...imported, called[0]];
}
