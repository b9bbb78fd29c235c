import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/embedded/persisted-port.ts';
import { waitFor } from '../support/wait-for.ts';
import { type FakeComfyui, startFakeComfyui } from './comfyui.ts';
import { python } from './python.ts';
import type { RunningUpstream } from './upstream-books.ts';

// The real server of the Comfy API v2, before the FAKE ComfyUI. It is a package of Python's: where it is not installed (.ci/run
// installs it and names its Python) the tests say so and are skipped.

const isThere = spawnSync(python, ['-c', 'import comfy_api_proxy']).status === 0;
export const skipWithoutComfyProxy = isThere ? false : 'comfy-api-proxy is not installed';

export type ComfyProxy = RunningUpstream & { readonly comfyui: FakeComfyui };

export async function startComfyProxy(token: string): Promise<ComfyProxy> {
  const comfyui = await startFakeComfyui();
  const folder = await mkdtemp(join(tmpdir(), 'videogen-comfy-'));
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const args = ['-m', 'comfy_api_proxy.cli', 'run', '--comfyui', `http://${comfyui.address}`, '--port', String(port)];
  const start = async () => {
    const child = spawn(python, [...args, '--token', token, '--state-dir', folder], { stdio: 'ignore' });
    await waitFor('the proxy of ComfyUI', async () => {
      const answer = await fetch(`http://${address}/api/v2/health`).catch(() => undefined);
      return answer?.ok === true ? true : undefined;
    });
    return child;
  };
  let child = await start();
  return {
    address,
    comfyui,
    books: comfyui.books,
    videoPath: comfyui.videoPath,
    restart: async () => {
      await kill(child);
      child = await start();
    },
    close: async () => {
      await kill(child);
      await comfyui.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
