import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from './write-file-atomically.ts';

/** Signs links and seals callback secrets; made once, kept beside the data it protects. */
export async function keptSecret(dataFolder: string): Promise<string> {
  const path = join(dataFolder, 'secret');
  const kept = await readFile(path, 'utf8').catch(() => undefined);
  if (kept !== undefined && kept.trim() !== '') return kept.trim();
  const secret = randomBytes(32).toString('base64url');
  await mkdir(dataFolder, { recursive: true });
  await writeFileAtomically(path, `${secret}\n`, 0o600);
  return secret;
}
