import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { reserveFreePort } from '../../src/run/embedded/local-ports.ts';
import { restartUnderLoad } from '../support/processes/restart-apis.ts';
import { waitFor } from '../support/wait-for.ts';

// The configurations of ops/proxies as they are, except for ports, with the default SHUTDOWN_DELAY.

const proxies = [
  { name: 'haproxy', file: 'haproxy.cfg', args: (file: string) => ['-db', '-f', file] },
  { name: 'nginx', file: 'nginx.conf', args: (file: string) => ['-g', 'daemon off;', '-c', file] },
] as const;

for (const proxy of proxies) {
  const isMissing = spawnSync(proxy.name, ['-v']).error !== undefined;
  const skip = isMissing ? `${proxy.name} is not installed` : false;
  test(`two APIs that are restarted one after the other behind ${proxy.name} refuse no create`, { skip }, (t) =>
    restartUnderLoad(t, {}, async (ports) => ({ baseUrl: await startProxy(t, proxy, ports) })),
  );
  test(`${proxy.name} forwards the host with its port, and the address of the client`, { skip }, async (t) => {
    const upstream = createServer(({ headers }, response) =>
      response.end(JSON.stringify([headers.host, headers['x-forwarded-for']])),
    );
    t.after(() => upstream.close());
    await once(upstream.listen(0, '127.0.0.1'), 'listening');
    const address = upstream.address();
    assert.ok(address !== null && typeof address === 'object');
    const baseUrl = await startProxy(t, proxy, [address.port, address.port]);
    assert.deepEqual(await (await fetch(baseUrl)).json(), [new URL(baseUrl).host, '127.0.0.1']);
  });
}

async function startProxy(
  t: TestContext,
  { name, file, args }: (typeof proxies)[number],
  [first, second]: readonly number[],
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-proxy-'));
  t.after(() => rm(folder, { recursive: true }));
  const port = await reserveFreePort();
  const text = await readFile(`ops/proxies/${file}`, 'utf8');
  const path = join(folder, file);
  const withPorts = text
    .replaceAll('127.0.0.1:3001', `127.0.0.1:${first}`)
    .replaceAll('127.0.0.1:3002', `127.0.0.1:${second}`)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`);
  await writeFile(path, name === 'nginx' ? `pid ${folder}/pid;\nerror_log stderr;\n${withPorts}` : withPorts);
  const child = spawn(name, args(path), { stdio: 'ignore' });
  t.after(async () => {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGTERM')) await ended;
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  await waitFor(name, async () => {
    assert.equal(child.exitCode, null, `${name} runs`);
    return (await fetch(`${baseUrl}/healthz`).catch(() => undefined))?.ok === true ? true : undefined;
  });
  return baseUrl;
}
