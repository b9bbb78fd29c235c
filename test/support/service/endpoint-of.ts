import { endpoints } from '../../../src/api/endpoints.ts';

const patterns = endpoints.map((endpoint) => ({
  endpoint,
  path: new RegExp(`^${endpoint.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** The endpoint of a request; undefined for a path that is not one. A fixed path comes before one with parameters. */
export function endpointOf(method: string, path: string) {
  const found = patterns.filter((one) => one.endpoint.method === method.toLowerCase() && one.path.test(path));
  return (found.find(({ endpoint }) => endpoint.path === path) ?? found[0])?.endpoint;
}
