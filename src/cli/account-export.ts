import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../domain/errors.ts';
import { persistedSecret } from '../embedded/data-folder.ts';
import { exportAccount } from '../http/account-export.ts';
import { createLinkSigner } from '../media/signed-link.ts';
import { type Answer, CommandError } from './output.ts';
import { type Context, requireAccount } from './run-command.ts';

/** Writes everything that is kept of an account into a new file, which its owner may get. */
export async function exportToFile(
  { db, config }: Context,
  accountId: string,
  { output: path = `videogen-${accountId}.jsonl` }: { readonly output?: string },
): Promise<Answer> {
  await requireAccount(db, accountId);
  const secret = config.secret ?? (await persistedSecret(config.dataFolder));
  const publicUrl = config.publicUrl ?? `http://${config.host}:${config.port}`;
  const links = createLinkSigner({ secret, publicUrl });
  try {
    const lines = exportAccount(db, { link: (key) => links.sign(key) }, accountId);
    // A file that is there may be an earlier export; what is exported is for few eyes.
    await pipeline(lines, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    if (errorCode(error) === 'EEXIST')
      throw new CommandError(`${path} exists already; name another file with --output`);
    throw error;
  }
  return { json: { accountId, file: path }, lines: [`Written to ${path}. Links to media in it are good for a day.`] };
}
