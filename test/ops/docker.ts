import { spawn } from 'node:child_process';
import { once } from 'node:events';

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
  // The script ends the engine when its command ends, which reads until this process closes the pipe or dies. It is no descendant of
  // this process, and does not use its folder, so that the test runner, which kills both, leaves it the time to clean up.
  const command = 'echo "DOCKER_HOST=${DOCKER_HOST:-}"; echo "DOCKER_CONFIG=${DOCKER_CONFIG:-}"; exec cat';
  const { TMPDIR: _, ...surroundings } = process.env;
  const child = spawn('setsid', ['--fork', 'ops/ci/with-docker.sh', 'sh', '-c', command], {
    env: surroundings,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child.stdout, 'close');
  const env: NodeJS.ProcessEnv = { ...process.env };
  let text = '';
  for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (/^DOCKER_CONFIG=.*\n/m.test(text)) break;
  }
  for (const [, name = '', value = ''] of text.matchAll(/^(\w+)=(.+)$/gm)) env[name] = value;
  if (text === '') throw new Error('no container engine started');
  return {
    env,
    close: async () => {
      child.stdin.end();
      child.stdout.resume();
      await ended;
    },
  };
}
