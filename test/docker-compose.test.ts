import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { readConfig, settingDefaults } from '../src/run/config/config.ts';
import { checkMemory } from '../src/run/doctor/check-machine.ts';

// Read like a compose file by compose: these tests hold where there is no Docker at all.
const serviceSchema = z.object({
  image: z.string(),
  pull_policy: z.string().optional(),
  build: z.object({ context: z.string(), dockerfile: z.string() }).optional(),
  command: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  ports: z.array(z.string()).default([]),
  networks: z.array(z.string()),
  configs: z.array(z.object({ source: z.string(), target: z.string() })).default([]),
  volumes: z.array(z.string()).default([]),
  tmpfs: z.array(z.string()).default([]),
  env_file: z.array(z.object({ path: z.string(), required: z.boolean() })).default([]),
  mem_limit: z.string().optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  restart: z.string(),
  stop_grace_period: z.string().optional(),
  security_opt: z.array(z.string()),
  cap_drop: z.array(z.string()),
  healthcheck: z.unknown().optional(),
});
const fileSchema = z.object({
  services: z.record(z.string(), serviceSchema),
  configs: z.record(z.string(), z.object({ content: z.string() })),
  networks: z.record(z.string(), z.object({ internal: z.boolean().optional() }).nullable()),
});

const secrets = ['POSTGRES_PASSWORD', 'VIDEOGEN_DB_PASSWORD', 'TEMPORAL_DB_PASSWORD', 'VIDEOGEN_SECRET'];
const sampleSecrets = Object.fromEntries(secrets.map((name) => [name, `sample${name.replaceAll('_', '')}`.repeat(2)]));
const composeText = readFileSync('docker-compose.yml', 'utf8');
const compose = fileSchema.parse(parse(composeText, interpolateStrings, { merge: true }));
const ours = ['migrate', 'api', 'worker'];
const dockerfile = readFileSync('Dockerfile', 'utf8');

test('every image is pinned to a version, and none is the deprecated auto-setup', () => {
  const images = Object.entries(compose.services).flatMap(([name, { image }]) => (ours.includes(name) ? [] : image));
  assert.ok(images.length >= 5);
  for (const image of images) assert.match(image, /^[a-z/-]+:\d+\.\d+(\.\d+)?(-bookworm)?$/);
  assert.doesNotMatch(composeText, /auto-setup/);
});

test('the tools that make the schema are of the same version as the server, one with fairness', () => {
  const version = versionOf('temporal');
  assert.equal(versionOf('temporal-schema'), version);
  assert.equal(versionOf('temporal-namespace'), version);
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  assert.ok(major * 1e6 + minor * 1e3 + patch >= 1_031_002, `${version} is older than 1.31.2`);
});

test('the server has 512 history shards, and shares generation fairly between accounts', () => {
  const { environment, configs } = service('temporal');
  assert.equal(environment['NUM_HISTORY_SHARDS'], '512');
  const mounted = configs.find(({ target }) => target === environment['DYNAMIC_CONFIG_FILE_PATH']);
  const dynamicConfig: unknown = parse(compose.configs[mounted?.source ?? '']?.content ?? '');
  assert.deepEqual(dynamicConfig, {
    'matching.enableFairness': [{ value: true }],
    'matching.numTaskqueueReadPartitions': [{ value: 1 }],
    'matching.numTaskqueueWritePartitions': [{ value: 1 }],
  });
});

test('only the API and the Temporal UI are published, to this machine alone', () => {
  const published = Object.entries(compose.services).flatMap(([name, { ports }]) => ports.map((port) => [name, port]));
  assert.deepEqual(published, [
    ['temporal-ui', '127.0.0.1:8080:8080'],
    ['api', '127.0.0.1:3000:3000'],
  ]);
});

test('database and engine are on a network without a way out, and on no other', () => {
  assert.equal(compose.networks['backend']?.internal, true);
  for (const name of ['postgres', 'temporal', 'temporal-schema', 'temporal-namespace']) {
    assert.deepEqual(service(name).networks, ['backend'], name);
  }
});

test('the Temporal client of the internal network queries no service record, to which Docker 20.10 does not respond', () => {
  assert.equal(service('temporal-namespace').environment['TEMPORAL_ADDRESS'], 'passthrough:///temporal:7233');
});

test('schema, namespace and migration are done, in this order, before api and worker start', () => {
  const done = 'service_completed_successfully';
  assert.equal(conditionOf('temporal-schema', 'postgres'), 'service_healthy');
  assert.equal(conditionOf('temporal', 'temporal-schema'), done);
  assert.equal(conditionOf('temporal-namespace', 'temporal'), 'service_healthy');
  assert.equal(conditionOf('migrate', 'temporal-namespace'), done);
  for (const name of ['api', 'worker']) assert.equal(conditionOf(name, 'migrate'), done, name);
});

test('what others wait for to be healthy or done can become so', () => {
  const waits = Object.values(compose.services).flatMap(({ depends_on: needs }) => Object.entries(needs));
  for (const [name, { condition }] of waits) {
    if (condition === 'service_healthy')
      assert.ok(service(name).healthcheck !== undefined, `${name} has no healthcheck`);
    else assert.equal(service(name).restart, 'no', `${name} never ends`);
  }
});

test('migrate, api and worker are entry points of one image, which is built once and never looked up in a registry', () => {
  for (const name of ours) {
    const { build, image, pull_policy: policy, command } = service(name);
    assert.deepEqual(build, name === 'migrate' ? { context: '.', dockerfile: 'Dockerfile' } : undefined);
    // Two installations on one machine have images of their own.
    assert.deepEqual([image, policy], ['localhost/videogen', 'never'], name);
    const program = name === 'migrate' ? 'run/cli/cli' : `run/main/${name}`;
    assert.deepEqual(command, ['node', `dist/src/${program}.js`].concat(name === 'migrate' ? ['migrate'] : []));
    assert.ok(existsSync(`src/${program}.ts`));
  }
});

test('our containers get settings that the configuration accepts, and none that it does not know', () => {
  const librariesOwn = ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
  for (const name of ours) {
    const { environment } = service(name);
    const unknown = Object.keys(environment).filter((variable) => !settingDefaults.has(variable));
    assert.deepEqual(unknown, librariesOwn, name);
    const config = readConfig(environment);
    assert.equal(config.temporal?.namespace, service('temporal-namespace').environment['NAMESPACE']);
    assert.equal(config.temporal?.connection.address, 'temporal:7233');
    assert.equal(config.databaseUrl, environment['DATABASE_URL']);
  }
  assert.equal(readConfig(service('api').environment).host, '0.0.0.0');
});

test('api and worker serve probes and metrics on their network, on a port that is not published', () => {
  for (const name of ['api', 'worker']) {
    const { environment, healthcheck, ports } = service(name);
    const { host, metricsPort } = readConfig(environment);
    assert.deepEqual([host, metricsPort], ['0.0.0.0', 9464], name);
    assert.ok(healthcheck !== undefined, name);
    assert.ok(!ports.some((port) => port.endsWith(':9464')), name);
  }
  assert.match(JSON.stringify(service('worker').healthcheck), /127\.0\.0\.1:9464\/readyz/);
});

test('settings of .env reach our containers; compose file, example and chart list those of the program', () => {
  execFileSync('node', ['ops/write-setting-files.mjs', '--check']);
  assert.match(composeText, /^ {2}MEDIA_RETENTION_DAYS: \$\{MEDIA_RETENTION_DAYS:-\}$/m);
});

test('a catalogue is read from the folder that is mounted', () => {
  for (const name of ours) {
    const { environment, volumes } = service(name);
    assert.equal(environment['VIDEOGEN_MODELS'], '', 'without a file it is the built-in catalogue');
    assert.ok(volumes.includes('./catalogue:/etc/videogen/catalogue:ro'), name);
  }
  assert.match(composeText, /VIDEOGEN_MODELS: \$\{VIDEOGEN_MODELS:\+\/etc\/videogen\/\$\{VIDEOGEN_MODELS:-\}\}/);
  assert.match(readFileSync('.env.example', 'utf8'), /^#VIDEOGEN_MODELS=\.\/catalogue\//m);
});

test('the worker alone gets the keys of providers, from a file that need not exist', () => {
  for (const name of ours) {
    const expected = name === 'worker' ? [{ path: '.env.providers', required: false }] : [];
    assert.deepEqual(service(name).env_file, expected, name);
  }
});

test('api and worker have limits of memory, with which doctor is content', () => {
  for (const name of ['api', 'worker']) {
    const gigabytes = Number(/^(\d)g$/.exec(service(name).mem_limit ?? '')?.[1]);
    assert.equal(checkMemory(name === 'worker', gigabytes * 1024 ** 3).state, 'ok', name);
  }
});

test('the header makes an account and a key by a command that is on the PATH of the image', () => {
  const commands = [...composeText.matchAll(/^# {3}docker compose exec api (\S+ \S+ \S+)/gm)].map(
    ([, command]) => command,
  );
  assert.deepEqual(commands, ['videogen account create', 'videogen key create']);
  assert.match(dockerfile, /ln -s \/app\/dist\/src\/run\/cli\/cli\.js \/usr\/local\/bin\/videogen/);
});

test('api and worker share the folder of results', () => {
  for (const name of ['api', 'worker']) {
    const { environment, volumes } = service(name);
    assert.equal(environment['RESULT_STORE'], '/results');
    assert.ok(volumes.includes('results:/results'), name);
  }
});

test('api and worker may write where they keep files for a short time, although their file system is read only', () => {
  for (const name of ['api', 'worker']) {
    const { volumes, tmpfs } = service(name);
    const writable = [...volumes.map((volume) => volume.split(':')[1]), ...tmpfs.map((mount) => mount.split(':')[0])];
    for (const folder of ['/data', '/results', '/tmp']) assert.ok(writable.includes(folder), `${folder} of ${name}`);
    assert.ok(!tmpfs.some((mount) => mount.startsWith('/data')), 'uploads and videos are too large for memory');
  }
  assert.match(dockerfile, /VIDEOGEN_DATA=\/data\b/);
});

test('api and worker are given more time to stop than the delay and the 45 s that draining may take', () => {
  for (const name of ['api', 'worker']) {
    const { shutdownDelayMs } = readConfig(service(name).environment);
    const seconds = Number(/^(\d+)s$/.exec(service(name).stop_grace_period ?? '')?.[1]);
    assert.ok(seconds > 45 + shutdownDelayMs / 1000, name);
  }
});

test('no container keeps more rights than it needs, and none may gain any', () => {
  for (const [name, { cap_drop: dropped, security_opt: options }] of Object.entries(compose.services)) {
    assert.deepEqual(dropped, ['ALL'], name);
    assert.deepEqual(options, ['no-new-privileges:true'], name);
  }
});

test('no secret has a default, and the example names every setting without a secret', () => {
  const used = new Set([...composeText.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name));
  // Compose's own.
  used.delete('COMPOSE_PROJECT_NAME');
  const required = new Set([...composeText.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name));
  const optional = new Set([...composeText.matchAll(/\$\{(\w+):-/g)].map(([, name = '']) => name));
  assert.deepEqual([...required].toSorted(), secrets.toSorted());
  assert.deepEqual([...used].toSorted(), [...required, ...optional].toSorted());
  const example = readFileSync('.env.example', 'utf8');
  for (const name of required) assert.match(example, new RegExp(`^${name}=$`, 'm'));
  for (const name of optional) assert.match(example, new RegExp(`^#${name}=`, 'm'));
});

test('the image is Debian with one file of ffmpeg, pinned for both architectures, and does not run as root', () => {
  const [, lastStage = ''] = dockerfile.split(/^FROM base AS service$/m);
  assert.match(dockerfile, /^FROM node:22\.\d+\.\d+-bookworm-slim AS base$/m);
  assert.equal([...dockerfile.matchAll(/^FROM (?!base )/gm)].length, 1);
  assert.match(lastStage, /^COPY --from=ffmpeg \/usr\/local\/bin\/ffmpeg \/usr\/local\/bin\/ffmpeg$/m);
  assert.doesNotMatch(lastStage, /apt-get/);
  assert.equal([...dockerfile.matchAll(/--hash=sha256:[0-9a-f]{64}/g)].length, 2);
  assert.equal([...lastStage.matchAll(/^USER (\S+)$/gm)].at(-1)?.[1], 'node');
  assert.match(lastStage, /^CMD \["node", "dist\/src\/run\/main\/api\.js"\]$/m);
});

test('neither secrets, backups nor this checkout’s own packages get into the image', () => {
  const ignored = readFileSync('.dockerignore', 'utf8').split('\n');
  const own = ['.env*', '.git', 'node_modules', 'dist*', 'data'];
  // What the commands of backup.md write: balances, videos and the secret.
  const backups = ['*.dump', 'results.tar', 'videogen-backup', 'data-before'];
  for (const name of [...own, ...backups]) assert.ok(ignored.includes(name), name);
});

/** Compose interpolates values, not the text of the file: an empty variable is an empty string, and `2` stays text. */
function interpolateStrings(_key: unknown, value: unknown): unknown {
  return typeof value === 'string' ? interpolate(value) : value;
}

/** `${NAME:?message}` becomes a sample, `${NAME:-default}` its default, `${NAME:+word}` nothing, `$$` a dollar; innermost first. */
function interpolate(text: string): string {
  const named = text.replaceAll('${COMPOSE_PROJECT_NAME}', 'videogen');
  const unset = named.replaceAll(/\$\{\w+:\+[^${}]*\}/g, '');
  const next = unset.replaceAll(/\$\{(\w+)(?::\?[^${}]*|:-([^${}]*))\}/g, (_, name: string, fallback?: string) => {
    return fallback ?? sampleSecrets[name] ?? assert.fail(`${name} has neither a default nor a sample`);
  });
  return next === text ? text.replaceAll('$$', '$') : interpolate(next);
}

function service(name: string): z.output<typeof serviceSchema> {
  return compose.services[name] ?? assert.fail(`there is no service ${name}`);
}

function versionOf(name: string): string {
  return service(name).image.split(':')[1] ?? assert.fail(`${name} has no image`);
}

function conditionOf(name: string, dependency: string): string | undefined {
  return service(name).depends_on[dependency]?.condition;
}
