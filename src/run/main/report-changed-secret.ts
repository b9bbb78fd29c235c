import pTimeout from 'p-timeout';
import type { CompleteSettings } from '../config/complete-settings-and-derived-values.ts';
import { sampleSealedCallbackSecrets } from '../doctor/database-facts.ts';
import { createSecretBox } from '../../platform/secrets/secret-box.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log/log.ts';

type Secrets = { readonly secret: string; readonly secretPrevious?: readonly string[] | undefined };
type Tried = { readonly tried: number; readonly unopened: number };

/** Tries to open a sample of the stored callback secrets. `older`: those that a previous secret opens. */
export async function countUnopenedSecrets(
  db: Database,
  { secret, secretPrevious = [] }: Secrets,
): Promise<Tried & { readonly older: number }> {
  const stored = await sampleSealedCallbackSecrets(db);
  const box = createSecretBox(secret, secretPrevious);
  const unopened = stored.filter(({ sealed, accountId }) => {
    try {
      return box.open(sealed, accountId) === '';
    } catch {
      return true;
    }
  });
  const older = stored.filter(({ sealed, accountId }) => !box.isCurrent(sealed, accountId)).length;
  return { tried: stored.length, unopened: unopened.length, older };
}

export function unopenedSecretsProblem({
  tried,
  unopened,
}: Tried): { readonly message: string; readonly remedy: string } | undefined {
  if (unopened === 0) return undefined;
  return {
    message: `VIDEOGEN_SECRET does not open ${unopened} of ${tried} callback secrets: callbacks cannot be signed`,
    remedy:
      'Name the secret that they were stored with in VIDEOGEN_SECRET_PREVIOUS; without it: videogen callback-secret rotate --account ACCOUNT',
  };
}

const checkLimitMs = 5_000;

/** Logs at the start that the secret has changed. An unavailable database delays the start for five seconds at most. */
export async function reportChangedSecret(
  db: Database,
  settings: Pick<CompleteSettings, 'secret' | 'secretPrevious'>,
  log: Log,
  say: (message: string) => void = () => {},
): Promise<void> {
  try {
    const problem = unopenedSecretsProblem(
      await pTimeout(countUnopenedSecrets(db, settings), { milliseconds: checkLimitMs }),
    );
    if (problem === undefined) return;
    log.error({ remedy: problem.remedy }, problem.message);
    say(`${problem.message}. ${problem.remedy}`);
  } catch (error) {
    log.warn({ err: error }, 'stored secrets not checked');
  }
}
