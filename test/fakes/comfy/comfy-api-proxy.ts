import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { isServing, startServerProcess } from '../../support/servers/server-process.ts';
import { type FakeComfyui, startFakeComfyui } from './comfyui.ts';
import { python } from '../python.ts';
import type { RunningUpstream } from '../upstream-books.ts';

// The real server of the Comfy API v2, before the FAKE ComfyUI. It is a package of Python's: where it is not installed (.ci/run
// installs it and names its Python) the tests say so and are skipped.

const isThere = spawnSync(python, ['-c', 'import comfy_api_proxy']).status === 0;
export const skipWithoutComfyProxy = isThere ? false : 'comfy-api-proxy is not installed';

export type ComfyProxy = RunningUpstream & { readonly comfyui: FakeComfyui };

export async function startComfyProxy(token: string): Promise<ComfyProxy> {
  const comfyui = await startFakeComfyui();
  const folder = await mkdtemp(join(tmpdir(), 'videogen-comfy-'));
  const port = await reserveFreePort();
  const address = `127.0.0.1:${port}`;
  const args = ['-m', 'comfy_api_proxy.cli', 'run', '--comfyui', `http://${comfyui.address}`, '--port', String(port)];
  const server = await startServerProcess({
    name: 'the proxy of ComfyUI',
    start: () => spawn(python, [...args, '--token', token, '--state-dir', folder], { stdio: 'ignore' }),
    isReady: () => isServing(`http://${address}/api/v2/health`),
  });
  return {
    address,
    comfyui,
    books: comfyui.books,
    videoPath: comfyui.videoPath,
    restart: server.restart,
    close: async () => {
      await server.kill();
      await comfyui.close();
      await rm(folder, { recursive: true });
    },
  };
}
