import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';

type Variables = Readonly<Record<string, string>>;

/** Runs programs in containers of one image, on this machine's network. */
export type Containers = {
  /** Answers what the program printed; throws when it fails. */
  run(command: readonly string[], environment?: Variables): string;
  /** Starts a program that goes on; what it prints is shown. */
  start(command: readonly string[], environment?: Variables): void;
  /** Ends all of them. */
  close(): Promise<void>;
};

const limitMs = 120_000;

/** With Docker where its daemon runs, else with buildah. `volumes`: folders of this machine by their place in the container. */
export function openContainers(image: string, volumes: Variables): Containers {
  const mounts = Object.entries(volumes).flatMap(([inside, folder]) => ['--volume', `${folder}:${inside}`]);
  const isDocker = hasDocker();
  const container = isDocker ? '' : buildah('from', '--pull-never', image);
  const argsOf = (command: readonly string[], environment: Variables) => {
    const variables = Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    return isDocker
      ? ['run', '--rm', '--network=host', '--read-only', '--tmpfs=/tmp', ...mounts, ...variables, image, ...command]
      : // It runs the program in a changed root directory, which is enough to see that the image has all it needs.
        ['run', '--isolation=chroot', ...mounts, ...variables, container, '--', ...command];
  };
  const program = isDocker ? 'docker' : 'buildah';
  const started: ChildProcess[] = [];
  return {
    run: (command, environment = {}) =>
      execFileSync(program, argsOf(command, environment), {
        encoding: 'utf8',
        timeout: limitMs,
        stdio: ['ignore', 'pipe', 'inherit'],
      }).trim(),
    start: (command, environment = {}) => {
      started.push(spawn(program, argsOf(command, environment), { stdio: 'inherit', detached: true }));
    },
    close: async () => {
      for (const child of started) {
        const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
        // Docker passes the signal on; buildah's program is in the same process group.
        process.kill(isDocker ? (child.pid ?? 0) : -(child.pid ?? 0), 'SIGTERM');
        await ended;
      }
      if (!isDocker) buildah('rm', container);
    },
  };
}

function buildah(...args: string[]): string {
  return execFileSync('buildah', args, { encoding: 'utf8', timeout: limitMs }).trim();
}

function hasDocker(): boolean {
  try {
    execFileSync('docker', ['info'], { stdio: 'ignore', timeout: limitMs });
    return true;
  } catch {
    return false;
  }
}
