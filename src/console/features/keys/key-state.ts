import type { Account, UsedApiKey } from '../../api/contract.ts';

export type OptionalAccountProps = {
  /** On operators' pages: the account whose keys these are. */
  readonly account?: Account | undefined;
};

/** The state decides if the service accepts a key. */
export function keyStateOf({ revokeTime, expireTime }: Pick<UsedApiKey, 'revokeTime' | 'expireTime'>) {
  if (revokeTime !== null) return 'revoked';
  return expireTime === null || expireTime > Date.now() ? 'active' : 'expired';
}
