import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { answerEnvelope, type AppRouter } from '../core/request-context-and-responses.ts';
import { sendFile } from '../core/server/send-file.ts';

/** Written by src/run/build/pack-client-archives.ts. */
const folder = fileURLToPath(new URL('../../../client-archives', import.meta.url));

const contentTypes: Readonly<Record<string, string>> = { tgz: 'application/gzip', whl: 'application/zip' };

/** The archives of the clients for npm and pip; their names have the version. */
export function listClientArchiveNames(): readonly string[] {
  return readdirSync(folder).toSorted();
}

/** Serves this service's own clients, so that customers can install them without a package registry. */
export function addClientArchiveRoutes(router: AppRouter, publicUrl: string): void {
  const names = listClientArchiveNames();
  router.get('/clients', (ctx) => {
    answerEnvelope(ctx, {
      code: 200,
      msg: 'success',
      data: { clients: names.map((name) => `${publicUrl}/clients/${name}`) },
    });
  });
  for (const name of names) {
    router.get(`/clients/${name}`, async (ctx) => {
      ctx.set({
        'Content-Type': contentTypes[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
        'Cache-Control': 'public, max-age=3600',
      });
      await sendFile(ctx, { root: folder, path: name });
    });
  }
}
