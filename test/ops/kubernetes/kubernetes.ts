import { openScriptStage, type ScriptStage } from '../kept-up-by-script.ts';

// The cluster of the tests: a node with Kubernetes' own programs that lives as long as this file.

export const skipWithoutKubernetes =
  (process.env['VIDEOGEN_TEST_KUBERNETES'] === undefined || process.env['VIDEOGEN_TEST_HELM'] === undefined) &&
  'no programs of Kubernetes and no helm: ops/ci/provision.sh --long builds both';

/** Its variables are those by which kubectl and helm find the cluster. */
export type Kubernetes = ScriptStage & {
  /** The address of the node, on which pods reach what listens there. */
  readonly address: string;
  /** A folder for files with lines of an address and a name, which pods resolve. */
  readonly namesFolder: string;
};

export async function openKubernetes(): Promise<Kubernetes> {
  const stage = await openScriptStage('ops/ci/with-kubernetes.sh', 'KUBE.*|PATH');
  const { KUBERNETES_ADDRESS: address = '', KUBERNETES_NAMES: namesFolder = '' } = stage.env;
  return { ...stage, address, namesFolder };
}
