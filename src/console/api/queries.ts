import {
  keepPreviousData,
  MutationCache,
  QueryClient,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/preact-query';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { type Answer, type Body, type Query, read, type ReadPath, send, type SendPath, type Sent } from './call.ts';
import { type ApiProblem, problemOf } from './problem.ts';
import { confirmPerson } from './confirm-person.ts';
import { keyOf, type Once, settle } from './once.ts';

/** The account in the address, for which every call below is made; undefined on pages of operators. */
export const AccountContext = createContext<string | undefined>(undefined);

/** For a moment nothing is asked again, so that pages of one account share what they read. */
const freshMs = 1000;

/** After a failure the page tries again by itself: soon where a service comes back, seldom where it said no. */
export const passingFailureMs = 5_000;
const lastingFailureMs = 30_000;

export function createQueryClient(onSignedOut: () => void): QueryClient {
  const client = new QueryClient({
    mutationCache: new MutationCache({ onError: (error) => isSignedOut(error) && onSignedOut() }),
    defaultOptions: {
      // A browser that takes itself for offline may still reach this service; and a change that waits until it is online would be
      // made when nobody expects it any more.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        staleTime: freshMs,
        retry: (count, error) => {
          // It may have been sent before the cookie of this session was renewed.
          if (isSignedOut(error)) return count < 1;
          // What is wrong with the request does not become right by repeating it.
          return isPassing(error) && problemOf(error).status !== 429 && count < 2;
        },
        retryDelay: (count) => 500 * 2 ** count,
        throwOnError: false,
      },
    },
  });
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type === 'updated' && query.state.status === 'error' && isSignedOut(query.state.error)) onSignedOut();
  });
  return client;
}

/** Whether it may be gone when the same is asked again. */
export function isPassing(error: unknown): boolean {
  if (error === null) return false;
  const { status } = problemOf(error);
  return status === 0 || status === 429 || status >= 500;
}

function isSignedOut(error: unknown): boolean {
  return problemOf(error).error === 'not_signed_in';
}

type ReadOptions<Data> = {
  /** Reads again at this pace while the page is in sight; a failing read backs off. */
  readonly everyMs?: number | ((data: Data | undefined) => number | false);
  readonly isEnabled?: boolean;
  /** The earlier answer stays until the next one is there, as with another filter of one list. */
  readonly keeps?: boolean;
};

/** What the service answers to a GET, under the name by which `useRead` finds it. */
export function readQuery<Path extends ReadPath>(account: string | undefined, path: Path, query: Query<Path>) {
  return queryOptions<Answer<Path>, ApiProblem>({
    queryKey: [account, path, query],
    queryFn: ({ signal }) => read(path, query, { account, signal }),
  });
}

/** What the service answers to a GET, read again as long as the page is shown. */
export function useRead<Path extends ReadPath>(
  path: Path,
  query: Query<Path>,
  options: ReadOptions<Answer<Path>> = {},
) {
  const account = useContext(AccountContext);
  const { everyMs = false, isEnabled = true, keeps = false } = options;
  return useQuery({
    ...readQuery(account, path, query),
    enabled: isEnabled,
    ...(keeps && { placeholderData: keepPreviousData }),
    refetchInterval: ({ state }) => {
      const paceMs = typeof everyMs === 'function' ? everyMs(state.data) : everyMs;
      if (isPassing(state.error)) return Math.max(paceMs || 0, passingFailureMs);
      return paceMs === false || state.error === null ? paceMs : Math.max(paceMs, lastingFailureMs);
    },
    refetchIntervalInBackground: false,
    refetchOnWindowFocus: everyMs !== false,
  });
}

type SendOptions<Path extends SendPath> = {
  /** What has to be read again afterwards; by default everything of the account. */
  readonly changes?: readonly ReadPath[];
  readonly onDone?: (answer: Sent<Path>) => void;
  /** For what charges or books credits. */
  readonly once?: (body: Body<Path>) => Once;
};

/** A POST. Where the service wants to know the person again, it is asked for the password and repeated. */
export function useSend<Path extends SendPath>(path: Path, { changes, onDone, once }: SendOptions<Path> = {}) {
  const account = useContext(AccountContext);
  const client = useQueryClient();
  return useMutation<Sent<Path>, ApiProblem, Body<Path>>({
    // Secrets that are shown once do not outlive the dialog that shows them.
    gcTime: 0,
    mutationFn: (body) => {
      const one = once?.(body);
      const attempt = () => send(path, body, { account, ...(one !== undefined && { idempotencyKey: keyOf(one) }) });
      return attempt().catch(async (error: unknown) => {
        if (problemOf(error).error !== 'reauthentication_required') throw error;
        await confirmPerson();
        return attempt();
      });
    },
    onError: (error, body) => once && settle(once(body), error),
    onSuccess: (answer, body) => {
      if (once !== undefined) settle(once(body));
      onDone?.(answer);
      void client.invalidateQueries({
        predicate: ({ queryKey: [of, asked] }) =>
          of === account && (changes === undefined || changes.some((changed) => changed === asked)),
      });
    },
  });
}
