import { v4 as uuid } from 'uuid';
import type { ProviderFile } from '../../catalogue/providers/provider-file-schema.ts';

const generated = '$uuid';

type Headers = Readonly<Record<string, string>>;

/** The headers of a file that are the same in every request. */
export function fixedHeaders({ headers }: Pick<ProviderFile, 'headers'>): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== generated));
}

/** The headers of a file that are generated for each request. */
export function generatedHeaders({ headers }: Pick<ProviderFile, 'headers'>): Headers {
  const names = Object.keys(headers).filter((name) => headers[name] === generated);
  return Object.fromEntries(names.map((name) => [name, uuid()]));
}
