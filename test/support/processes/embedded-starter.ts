import { lockDataFolder } from '../../../src/run/embedded/data-folder-lock-and-files.ts';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { startPostgres } from '../../../src/run/embedded/postgres/postgres-server.ts';
import { startTemporal } from '../../../src/run/embedded/temporal/temporal-server.ts';

/** A process of its own for tests to kill: does one thing, prints what came of it as one line of JSON, and stays alive. */
const [, , what, folder = '', cliPath = ''] = process.argv;
const log = () => undefined;

async function start(): Promise<unknown> {
  if (what === 'lock')
    return {
      locked: await lockDataFolder(folder).then(
        () => true,
        () => false,
      ),
    };
  if (what === 'port') return { port: await reserveFreePort() };
  if (what === 'postgres') return { ...(await startPostgres({ folder, log })) };
  return { ...(await startTemporal({ folder, cliPath, log, namespace: 'videogen' })) };
}

process.stdout.write(`${JSON.stringify({ self: process.pid, ...Object(await start()) })}\n`);
setInterval(() => undefined, 60_000);
