import { useRead } from '../../api/read-and-send-hooks.ts';

/** The balance of the account, which the sidebar polls as well. Null when it cannot be read. */
export function useBalance(): number | null | undefined {
  const { data, error } = useRead('/api/v1/credits', { limit: 1 }, { everyMs: 15_000 });
  return data === undefined && error !== null ? null : data?.balance;
}
