import { useRead } from '../../api/queries.ts';

/** The balance of the account, which the sidebar polls as well. */
export function useBalance(): number | undefined {
  return useRead('/api/v1/credits', { limit: 1 }, { everyMs: 15_000 }).data?.balance;
}
