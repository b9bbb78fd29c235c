import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An API server with a few objects, by their path, for the chart's look-ups. */
export type FakeKubernetes = { readonly objects: Map<string, unknown>; close(): Promise<void> };

const resource = (name: string, kind: string) => ({ name, kind, namespaced: true, singularName: '', verbs: ['get'] });
const discovery: Readonly<Record<string, unknown>> = {
  '/version': { major: '1', minor: '30', gitVersion: 'v1.30.0' },
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
  '/api/v1': {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [resource('secrets', 'Secret'), resource('configmaps', 'ConfigMap')],
  },
};
const notFound = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };

/** Starts it, and writes the configuration of its clients to `kubeconfig`. */
export async function startFakeKubernetes(kubeconfig: string): Promise<FakeKubernetes> {
  const objects = new Map<string, unknown>();
  const server = createServer(({ url = '' }, response) => {
    const [path = ''] = url.split('?');
    const found = discovery[path] ?? objects.get(path);
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? notFound));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  const named = { name: 'test', cluster: { server: `http://127.0.0.1:${port}` } };
  const context = { name: 'test', context: { cluster: 'test', user: '' } };
  await writeFile(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [named],
      contexts: [context],
      'current-context': 'test',
    }),
  );
  return {
    objects,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
