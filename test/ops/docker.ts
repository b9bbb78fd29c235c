import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

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
  // The script ends the engine when its command ends, which lives as long as this process. The script is no descendant of this process
  // and does not use its folder: the test runner kills both, and the script needs time to clean up.
  const command =
    'echo "DOCKER_HOST=${DOCKER_HOST:-}"; echo "DOCKER_CONFIG=${DOCKER_CONFIG:-}"; echo "PID=$$"; while kill -0 "$1" 2>/dev/null; do sleep 1; done';
  const { TMPDIR: _, ...surroundings } = process.env;
  const program = ['ops/ci/with-docker.sh', 'sh', '-c', command, 'sh', String(process.pid)];
  const { stdout } = spawn('setsid', ['--fork', ...program], {
    env: surroundings,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(stdout, 'close');
  let text = '';
  for await (const chunk of stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (/^PID=.*\n/m.test(text)) break;
  }
  const values: NodeJS.ProcessEnv = {};
  for (const [, name = '', value] of text.matchAll(/^(\w+)=(.+)$/gm)) values[name] = value;
  const { PID: pid, ...env } = values;
  if (pid === undefined) throw new Error('no container engine started');
  return {
    env: { ...process.env, ...env },
    close: async () => {
      process.kill(Number(pid));
      stdout.resume();
      await ended;
    },
  };
}

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
