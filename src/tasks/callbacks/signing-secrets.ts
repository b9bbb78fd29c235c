import { lockOpenAccount } from '../../accounts/accounts.ts';
import { type SecretBox, SecretBoxError } from '../../platform/secrets/secret-box.ts';
import { newCallbackSecret } from '../../platform/outbound/webhook-signature.ts';
import {
  scheduleSigningSecretExpiry,
  insertFirstSigningSecret,
  insertNextSigningSecret,
  listSigningSecrets,
  listSealedSecretsPage,
  replaceSealedSecret,
  type SealedSecret,
  type SecretPurpose,
  takeUnshownSecret,
} from './signing-secret-rows.ts';
import type { Database } from '../../platform/database/database.ts';

/** Returns the secrets that sign an account's callbacks or events, the current one first. Creates one on first use. */
export async function ensureSigningSecrets(
  db: Database,
  box: SecretBox,
  accountId: string,
  purpose: SecretPurpose = 'callback',
): Promise<readonly string[]> {
  const existing = await listSigningSecrets(db, accountId, purpose);
  if (existing.some(isCurrent)) return openAll(existing, box, accountId);
  await insertFirstSigningSecret(db, accountId, purpose, box.seal(newCallbackSecret(), accountId));
  return openAll(await listSigningSecrets(db, accountId, purpose), box, accountId);
}

/** Shows the current secret to its owner, once; undefined if it was shown before. Creates one on first use. */
export async function revealSecretOnce(
  db: Database,
  box: SecretBox,
  accountId: string,
  purpose: SecretPurpose,
): Promise<string | undefined> {
  await insertFirstSigningSecret(db, accountId, purpose, box.seal(newCallbackSecret(), accountId));
  const shown = await takeUnshownSecret(db, accountId, purpose);
  return shown && box.open(shown.sealed, accountId);
}

type Rotation = { readonly accountId: string; readonly purpose: SecretPurpose; readonly overlapSeconds: number };

/** Creates and returns a new current secret; the old one stays valid for `overlapSeconds`. Throws `AccountClosedError`. */
export async function rotateSecret(
  db: Database,
  box: SecretBox,
  { accountId, purpose, overlapSeconds }: Rotation,
): Promise<string> {
  const secret = newCallbackSecret();
  await db.transaction(async (run) => {
    // The lock serializes rotations: two concurrent ones would find the same current secret.
    await lockOpenAccount({ run }, accountId);
    await scheduleSigningSecretExpiry({ run }, accountId, purpose, overlapSeconds);
    await insertNextSigningSecret({ run }, accountId, purpose, box.seal(secret, accountId));
  });
  return secret;
}

/** `unopened` has the accounts whose secret neither VIDEOGEN_SECRET nor a previous one opens. */
export type ResealCounts = { current: number; moved: number; unopened: string[] };

const pageSize = 200;

/** Seals every secret with the current VIDEOGEN_SECRET. Safe while the service runs and safe to repeat: each update compares first. */
export async function resealSecrets(db: Database, box: SecretBox): Promise<ResealCounts> {
  const counts: ResealCounts = { current: 0, moved: 0, unopened: [] };
  for (let after = 0; ;) {
    const page = await listSealedSecretsPage(db, after, pageSize);
    for (const { secretId, accountId, sealed } of page) {
      after = secretId;
      if (box.isCurrent(sealed, accountId)) counts.current += 1;
      else if (await reseal(db, box, { secretId, accountId, sealed })) counts.moved += 1;
      else counts.unopened.push(accountId);
    }
    if (page.length < pageSize) return counts;
  }
}

async function reseal(
  db: Database,
  box: SecretBox,
  { secretId, accountId, sealed }: { secretId: number; accountId: string; sealed: string },
): Promise<boolean> {
  try {
    await replaceSealedSecret(db, secretId, sealed, box.seal(box.open(sealed, accountId), accountId));
    return true;
  } catch (error) {
    if (error instanceof SecretBoxError) return false;
    throw error;
  }
}

function isCurrent({ expiresAt }: SealedSecret): boolean {
  return expiresAt === undefined;
}

/** Skips an old secret that cannot be opened, so that a rotation succeeds after VIDEOGEN_SECRET was lost. */
function openAll(secrets: readonly SealedSecret[], box: SecretBox, accountId: string): readonly string[] {
  return secrets.flatMap((secret) => {
    try {
      return [box.open(secret.sealed, accountId)];
    } catch (error) {
      if (isCurrent(secret) || !(error instanceof SecretBoxError)) throw error;
      return [];
    }
  });
}
