import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

// The cluster of the tests: a node with Kubernetes' own programs that lives as long as this file.

export const skipWithoutKubernetes =
  (process.env['VIDEOGEN_TEST_KUBERNETES'] === undefined || process.env['VIDEOGEN_TEST_HELM'] === undefined) &&
  'no programs of Kubernetes and no helm: ops/ci/provision.sh --long builds both';

export type Kubernetes = {
  /** The variables by which kubectl and helm find the cluster. */
  readonly env: NodeJS.ProcessEnv;
  /** The address of the node, on which pods reach what listens there. */
  readonly address: string;
  /** A folder for files with lines of an address and a name, which pods resolve. */
  readonly namesFolder: string;
  /** Ends it with all of its pods. */
  close(): Promise<void>;
};

const script = 'ops/ci/with-kubernetes.sh';

export async function openKubernetes(): Promise<Kubernetes> {
  // The script ends the cluster when its command ends, which reads until this process closes the pipe or dies.
  const command = 'env | grep -E "^(KUBE.*|PATH)="; echo "READY=1"; exec cat';
  const child = spawn(script, ['sh', '-c', command], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const close = async () => {
    child.stdin.end();
    await ended;
  };
  const env: NodeJS.ProcessEnv = { ...process.env };
  for await (const line of createInterface(child.stdout)) {
    const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
    const { KUBERNETES_ADDRESS: address = '', KUBERNETES_NAMES: namesFolder = '' } = env;
    if (name === 'READY') return { env, address, namesFolder, close };
    env[name] = value;
  }
  throw new Error('no cluster started');
}
