import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { openScriptStage, type ScriptStage } from '../kept-up-by-script.ts';

// The container engine of the tests: that of the machine, or one that lives as long as this file.

export const skipWithoutDocker =
  process.env['VIDEOGEN_TEST_DOCKER'] === undefined &&
  'no container engine with the images of the compose file: ops/ci/provision.sh --long provides both';

/** Its variables are those by which `docker` and its plugins find the engine. */
export const openDocker = (): Promise<ScriptStage> =>
  openScriptStage('ops/ci/with-docker.sh', 'DOCKER_HOST|DOCKER_CONFIG');

/** Builds the image as install.md says, and writes it to a file as `docker save` does. */
export async function saveImage(image: string, file: string): Promise<void> {
  const docker = await openDocker();
  const run = (...args: string[]) => promisify(execFile)('docker', args, { env: docker.env });
  try {
    await run('build', '--tag', image, '.');
    await run('save', '--output', file, image);
    await run('image', 'rm', image);
  } finally {
    await docker.close();
  }
}
