import { defaultStoreLocation } from '../../media/store/open-store.ts';
import { findOwnershipProblem } from '../../media/store/store-and-namespace-ownership.ts';
import type { Config } from '../config/config.ts';
import { createDatabase } from '../../platform/database/database.ts';
import { messageOf } from '../../platform/setup-errors-and-error-messages.ts';
import { failure, type Finding, ok, unchecked } from './checks-and-findings.ts';

const check = 'installation';

export async function checkStoreAndNamespaceOwner(
  url: string,
  config: Config,
  namespace: string,
): Promise<readonly Finding[]> {
  const { resultStore = defaultStoreLocation(config), resultStoreAlso } = config;
  const db = createDatabase({ url, poolSize: 1 });
  try {
    const found = await findOwnershipProblem(db, { ...config, resultStore, resultStoreAlso }, namespace);
    if (found !== undefined) return [failure(check, found.reason, found.remedy)];
    return [ok(check, 'result store and namespace belong to this database')];
  } catch (error) {
    // The checks of the database and of the store report the reason.
    return [unchecked(check, `not checked: ${messageOf(error)}`)];
  } finally {
    await db.close();
  }
}
