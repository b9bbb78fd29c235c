import {
  keepPreviousData,
  MutationCache,
  QueryClient,
  queryOptions,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/preact-query';
import { useContext, useRef } from 'preact/hooks';
import {
  type Answer,
  type Body,
  type Query,
  read,
  type ReadPath,
  send,
  type SendPath,
  type SendAnswer,
} from './call.ts';
import { type ApiProblem, apiProblemFromError } from './api-problem-and-words.ts';
import { randomIdempotencyKey } from './random-idempotency-key.ts';
import { withSudo } from './sudo.ts';
import { AccountContext } from './account-context.ts';

/** Data this fresh is not requested again, so that pages of one account share it. */
const freshMs = 1000;

/** Reads are retried automatically: often after an outage, seldom after a refusal. */
export const transientFailureRetryMs = 5_000;
const lastingFailureMs = 30_000;

export function createQueryClient(onSignedOut: () => void): QueryClient {
  const client = new QueryClient({
    mutationCache: new MutationCache({ onError: (error) => isSignedOut(error) && onSignedOut() }),
    defaultOptions: {
      // A browser in offline mode may still reach this service, and a change that is delayed until it is online surprises people.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        staleTime: freshMs,
        retry: (count, error) => {
          // It may have been sent before the cookie of this session was renewed.
          if (isSignedOut(error)) return count < 1;
          // A refused request is refused again.
          return isTransientFailure(error) && apiProblemFromError(error).status !== 429 && count < 2;
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

/** A retry may succeed. */
export function isTransientFailure(error: unknown): boolean {
  if (error === null) return false;
  const { status } = apiProblemFromError(error);
  return status === 0 || status === 429 || status >= 500;
}

function isSignedOut(error: unknown): boolean {
  return apiProblemFromError(error).error === 'not_signed_in';
}

type ReadOptions<Data> = {
  /** Reads again at this pace while the page is in sight; a failing read backs off. */
  readonly everyMs?: number | ((data: Data | undefined) => number | false);
  readonly isEnabled?: boolean;
  /** The earlier answer stays until the next one is there, as with another filter of one list. */
  readonly keeps?: boolean;
  /** Reads on while the page is hidden, which only a page with news for a hidden tab needs. */
  readonly inBackground?: boolean;
};

/** A GET, under the key by which `useRead` finds its response. */
function readQuery<Path extends ReadPath>(account: string | undefined, path: Path, query: Query<Path>) {
  return queryOptions<Answer<Path>, ApiProblem>({
    queryKey: [account, path, query],
    queryFn: ({ signal }) => read(path, query, { account, signal }),
  });
}

/** A GET, repeated while the page is in sight. */
export function useRead<Path extends ReadPath>(
  path: Path,
  query: Query<Path>,
  options: ReadOptions<Answer<Path>> = {},
) {
  const account = useContext(AccountContext);
  const { isEnabled = true, keeps = false } = options;
  const result = useQuery({
    ...repeatedQuery(account, path, query, options),
    enabled: isEnabled,
    ...(keeps && { placeholderData: keepPreviousData }),
  });
  return useResultKeepingError(result);
}

/** A query without data forgets its error when it is tried again; here the error stays until there is a new result. */
export function useResultKeepingError<Result extends UseQueryResult<unknown, ApiProblem>>(result: Result) {
  const last = useRef<ApiProblem | null>(null);
  const isTriedAgain = result.error === null && result.data === undefined && result.isFetching;
  last.current = isTriedAgain ? last.current : result.error;
  return last.current === result.error ? result : { ...result, error: last.current };
}

/** Several GETs of one path, each repeated at its own pace. */
export function useReadsOfOnePath<Path extends ReadPath>(
  path: Path,
  queries: readonly Query<Path>[],
  options: Omit<ReadOptions<Answer<Path>>, 'isEnabled' | 'keeps'>,
) {
  const account = useContext(AccountContext);
  return useQueries({ queries: queries.map((query) => repeatedQuery(account, path, query, options)) });
}

function repeatedQuery<Path extends ReadPath>(
  account: string | undefined,
  path: Path,
  query: Query<Path>,
  options: ReadOptions<Answer<Path>>,
) {
  const { everyMs = false, inBackground = false } = options;
  return {
    ...readQuery(account, path, query),
    refetchInterval: ({ state }: { state: { data: Answer<Path> | undefined; error: ApiProblem | null } }) => {
      const paceMs = typeof everyMs === 'function' ? everyMs(state.data) : everyMs;
      if (isTransientFailure(state.error)) return Math.max(paceMs || 0, transientFailureRetryMs);
      return paceMs === false || state.error === null ? paceMs : Math.max(paceMs, lastingFailureMs);
    },
    refetchIntervalInBackground: inBackground,
    refetchOnWindowFocus: everyMs !== false,
  };
}

type SendOptions<Path extends SendPath> = {
  /** Reads to refresh afterwards; by default all of the account. */
  readonly changes?: readonly ReadPath[] | undefined;
  readonly onDone?: ((answer: SendAnswer<Path>) => void) | undefined;
  /** Sends an Idempotency-Key: one per mounted form, so that a retry or a second click is charged or booked once. */
  readonly isOnce?: boolean | undefined;
};

/** A POST of a form. */
export function useSend<Path extends SendPath>(path: Path, options: SendOptions<Path> = {}) {
  const account = useContext(AccountContext);
  const refresh = useRefresh();
  const key = useRef(randomIdempotencyKey());
  const renewKey = () => (key.current = randomIdempotencyKey());
  const { changes, onDone, isOnce } = options;
  return useSudoAction(
    (body: Body<Path>) => send(path, body, { account, ...(isOnce === true && { idempotencyKey: key.current }) }),
    {
      onError: ({ error }) => {
        // The service accepted the earlier request of this form, so the next one is a new request.
        if (error === 'idempotency_key_reused') renewKey();
        // After this message, people check the page, so it must show the current state.
        if (error === 'unanswered') refresh(changes);
      },
      onDone: (answer) => {
        renewKey();
        onDone?.(answer);
        refresh(changes);
      },
    },
  );
}

/** Reads again what a change of the account touched; by default all of it. */
export function useRefresh() {
  const account = useContext(AccountContext);
  const client = useQueryClient();
  return (changes?: readonly ReadPath[]) =>
    void client.invalidateQueries({
      predicate: ({ queryKey: [of, readPath] }) =>
        of === account && (changes === undefined || changes.some((changed) => changed === readPath)),
    });
}

type ActionOptions<Result> = {
  readonly onDone?: (result: Result) => void;
  readonly onError?: (problem: ApiProblem) => void;
};

/** Anything a person starts that may fail: tracks whether it is running and why it failed, and confirms their identity if required. */
export function useSudoAction<Result, Input = void>(
  run: (input: Input) => Promise<Result>,
  { onDone, onError }: ActionOptions<Result> = {},
) {
  // The mutation takes on its new options a frame after they are rendered; a form that is filled and submitted immediately, as password
  // managers do, must send what was filled in.
  const latest = useRef(run);
  latest.current = run;
  return useMutation<Result, ApiProblem, Input>({
    // Secrets that are shown once do not outlive the dialog that shows them.
    gcTime: 0,
    mutationFn: (input) =>
      withSudo(() => latest.current(input)).catch((error: unknown) => {
        throw apiProblemFromError(error);
      }),
    onSuccess: (result) => onDone?.(result),
    onError: (problem) => onError?.(problem),
  });
}
