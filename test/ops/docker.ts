import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

// The container engine of the tests: that of the machine, or one that lives as long as this file.

export const skipWithoutDocker =
  process.env['VIDEOGEN_TEST_DOCKER'] === undefined &&
  'no container engine with the images of the compose file: ops/ci/provision.sh --long provides both';

export type Docker = {
  /** The variables by which `docker` and its plugins find the engine. */
  readonly env: NodeJS.ProcessEnv;
  /** Ends the engine with all of its containers, unless it is the machine's. */
  close(): Promise<void>;
};

export async function openDocker(): Promise<Docker> {
  // The script ends the engine when its command ends, which reads until this process closes the pipe or dies.
  const command = 'echo "DOCKER_HOST=${DOCKER_HOST:-}"; echo "DOCKER_CONFIG=${DOCKER_CONFIG:-}"; exec cat';
  const child: ChildProcess = spawn('ops/ci/with-docker.sh', ['sh', '-c', command], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const close = async () => {
    child.stdin?.end();
    await ended;
  };
  const env: NodeJS.ProcessEnv = { ...process.env };
  if (child.stdout === null) throw new Error('no pipe from ops/ci/with-docker.sh');
  for await (const line of createInterface(child.stdout)) {
    const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (value !== '') env[name] = value;
    if (name === 'DOCKER_CONFIG') return { env, close };
  }
  throw new Error('no container engine started');
}
