import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
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

const nouns =
  'accounts brand callbacks credits gallery ingress mail mcp media models moderation operators outbound payments people providers requests tasks temporal'
    .split(' ')
    .map((noun) => `src/${noun}`);
const entryPoints = [
  'src/run/build/build-clients.ts',
  'src/run/build/build-console.ts',
  'src/run/main/api.ts',
  'src/run/main/worker.ts',
  'src/run/cli/cli.ts',
];
const programs = ['src/config', 'src/doctor', 'src/http', 'src/main', 'src/metrics', 'src/schema', 'activities'];

// Which folder may import which; all of them may import src/platform. `types:` allows imports of types only.
const mayImport: Record<string, readonly string[]> = {
  'src/platform': ['types:src/tasks'],
  'src/accounts': ['callbacks', 'credits', 'media', 'operators', 'people', 'tasks'].map((noun) => `src/${noun}`),
  'src/brand': [],
  'src/callbacks': ['accounts', 'brand', 'media', 'operators', 'outbound', 'tasks']
    .map((noun) => `src/${noun}`)
    .concat('types:src/models'),
  'src/credits': ['src/accounts', 'src/operators', 'src/people', 'src/tasks', 'types:src/models'],
  'src/gallery': ['src/accounts', 'src/people', 'src/tasks', 'types:src/media'],
  'src/ingress': ['src/media', 'src/models', 'src/tasks', 'types:src/accounts', 'types:src/callbacks'],
  'src/mail': ['types:src/outbound'],
  'src/mcp': [],
  'src/media': ['src/accounts', 'src/callbacks', 'src/outbound', 'src/tasks'],
  'src/models': ['media', 'outbound', 'providers', 'tasks']
    .map((noun) => `src/${noun}`)
    .concat('types:src/credits', 'types:src/temporal', 'types:src/metrics'),
  'src/moderation': ['src/outbound', 'types:src/metrics', 'types:src/models', 'types:src/providers'],
  'src/operators': ['src/accounts', 'src/people', 'src/tasks'],
  'src/outbound': [],
  'src/people': ['src/accounts', 'src/credits', 'src/mail', 'src/operators'],
  'src/payments': ['src/accounts', 'src/credits', 'types:src/models', 'types:src/metrics'],
  'src/providers': ['src/media', 'src/models', 'src/outbound', 'src/tasks'],
  'src/requests': ['src/tasks', 'types:src/metrics'],
  'src/tasks': ['accounts', 'callbacks', 'credits', 'operators', 'people', 'providers']
    .map((noun) => `src/${noun}`)
    .concat('src/models', 'src/media', 'types:src/metrics', 'types:src/moderation'),
  'src/temporal': ['src/models', 'src/tasks', 'types:src/config', 'types:src/metrics', 'types:workflows'],
  activities: [...nouns.filter((folder) => folder !== 'src/ingress' && folder !== 'src/mcp'), 'types:src/metrics'],
  workflows: ['src/callbacks', 'src/tasks', 'src/temporal', 'types:activities', 'types:src/credits'],
  'src/config': ['brand', 'media', 'models', 'outbound', 'tasks', 'temporal']
    .map((noun) => `src/${noun}`)
    .concat('types:src/moderation'),
  'src/metrics': [...nouns, 'types:src/http', 'activities'],
  'src/http': [...nouns, 'types:src/metrics'],
  'src/schema': nouns,
  'src/doctor': [...nouns, ...programs],
  'src/main': [...nouns, ...programs],
  'src/embedded': [...nouns, ...programs],
  // Runs in a browser.
  'src/console': ['src/accounts', 'src/credits', 'src/media', 'src/models', 'src/operators', 'src/people', 'src/tasks'],
  'src/cli': [...nouns, ...programs, 'src/embedded', 'clients'],
  'entry point': [...nouns, ...programs, 'src/cli'],
};

// Files that handle a request: they may import src/http and any noun, and no other file of a noun may import them. `-http` is what
// endpoints share. src/ingress handles requests of other APIs, except for the dialects, whose callbacks workers send.
const handlesRequests = /-(?:routes|view|http)\.ts$|^src\/ingress\/(?!dialect\.ts|kie\/)|^src\/mcp\//;

// One door to each outside thing: only these folders may import these packages.
const doors: Record<string, readonly string[]> = {
  pg: ['src/platform', 'src/schema', 'src/embedded'],
  kysely: ['src/schema'],
  koa: ['src/http'],
  '@koa/router': ['src/http'],
  '@temporalio/client': ['src/temporal', 'src/main', 'src/embedded'],
  '@temporalio/worker': ['src/temporal', 'src/main'],
  '@temporalio/workflow': ['workflows'],
  '@temporalio/activity': ['activities'],
  '@temporalio/envconfig': ['src/config'],
  '@temporalio/interceptors-opentelemetry': ['src/main', 'workflows'],
  '@opentelemetry/sdk-trace-base': ['src/main'],
  '@opentelemetry/exporter-trace-otlp-proto': ['src/main'],
  'prom-client': ['src/metrics'],
  sharp: ['src/media', 'src/providers'],
  '@node-rs/argon2': ['src/people'],
  'openid-client': ['src/people'],
  nodemailer: ['src/mail'],
  '@simplewebauthn/server': ['src/people'],
  '@modelcontextprotocol/server': ['src/mcp'],
  // Opens sockets to Stripe's own address only.
  stripe: ['src/payments'],
  // Also for the wheel of the Python client, at the build.
  yazl: ['src/gallery', 'entry point'],
  '@aws-sdk/client-s3': ['src/media'],
  '@aws-sdk/s3-request-presigner': ['src/media'],
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

// Sockets to the outside open in src/outbound alone. These folders open some to what is not outside.
const opensSockets: Record<string, string> = {
  'src/outbound': 'guards every address that a client may have given',
  'src/console': 'calls its own service from the browser',
  'src/cli': 'calls the service that its user names',
  'src/embedded': 'calls the servers that it starts itself, and downloads programs from addresses in its own code',
};

test('a folder imports only the folders that the table allows', () => {
  const forbidden = imports().filter(({ file, to, typeOnly }) => {
    const [from, target] = [folderOf(file), folderOf(to)];
    if (from === target || !isOurs(to)) return false;
    const allowed = [
      ...(isRequestFile(file) ? [...nouns, 'src/http'] : []),
      ...(mayImport[from] ?? []),
      'src/platform',
    ];
    return !(allowed.includes(target) || (typeOnly && allowed.includes(`types:${target}`)));
  });
  assert.deepEqual(forbidden, []);
});

test('the rules and the SQL of a noun do not import its routes and views', () => {
  const forbidden = imports().filter(
    ({ file, to }) => nouns.includes(folderOf(file)) && !isRequestFile(file) && isRequestFile(to),
  );
  assert.deepEqual(forbidden, []);
});

test('rows of jobs and pools change in src/tasks/jobs, and the providers know none of them', () => {
  const writes = /(?:insert into|update) (?:provider_jobs|provider_pools)\b/;
  const writers = filesUnder('src').filter((file) => writes.test(readFileSync(file, 'utf8')));
  assert.ok(writers.length > 5, 'the statements were found');
  const elsewhere = writers.filter((file) => !file.startsWith('src/tasks/jobs/'));
  // The heartbeat of attempts also renews their slots, and the deletion of content clears the texts of jobs.
  assert.deepEqual(elsewhere, ['src/tasks/end/content-deletion.ts', 'src/tasks/task-rows.ts']);
  const forbidden = imports().filter(
    ({ file, to }) => folderOf(file) === 'src/providers' && !isRequestFile(file) && to.startsWith('src/tasks/jobs/'),
  );
  assert.deepEqual(forbidden, []);
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
    return folders !== undefined && !typeOnly && !folders.includes(folderOf(file));
  });
  assert.deepEqual(forbidden, []);
});

test('only src/outbound opens sockets to the outside', () => {
  const opening = sourceFiles().filter(
    (file) => opensSockets[folderOf(file)] === undefined && waysOut(file).length > 0,
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
  assert.deepEqual(new Set(writers.map(folderOf)), new Set(['src/credits']));
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

function isRequestFile(path: string): boolean {
  return handlesRequests.test(path);
}

function folderOf(path: string): string {
  const [first = '', second = ''] = path.split('/');
  if (first !== 'src') return first;
  return entryPoints.includes(path) ? 'entry point' : `src/${second}`;
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
