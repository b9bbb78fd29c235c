import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { send } from '../../api/call.ts';
import { type ApiProblem, failureOf, apiProblemFromError } from '../../api/api-problem-and-words.ts';
import { useSudoAction, useRefresh } from '../../api/read-and-send-hooks.ts';
import { AccountContext } from '../../api/account-context.ts';
import { randomIdempotencyKey } from '../../api/random-idempotency-key.ts';
import { toast } from '../../ui/feedback/toast.tsx';
import { maxVariants } from './draft/draft.ts';
import { playgroundText } from './playground-text.ts';
import { type PlannedVideo, randomSeed } from './form/variants.ts';

/** Each variant of an opened form is sent with these. They stay the same until one is accepted, so that a retry is the same request. */
type Slot = { readonly key: string; readonly seed: number };

export type AcceptedVariant = { readonly taskId: string; readonly creditsCharged: number };
/** A variant that was not accepted, with the key under which a retry is safe. */
export type NotAcceptedVariant = { readonly variant: PlannedVideo; readonly key: string; readonly problem: ApiProblem };
export type VariantBatchResult = {
  readonly accepted: readonly AcceptedVariant[];
  readonly refused: readonly NotAcceptedVariant[];
};

/** After an error of the service or the network, the task may have been accepted. */
export const isCertainlyNotCharged = ({ status, error }: ApiProblem) =>
  // `idempotency_key_reused` means that an earlier request with this key was accepted and charged.
  status >= 400 && status < 500 && error !== 'idempotency_key_reused';

/** Creates the variants of the form as tasks, one after the other. It fails only if none is accepted. */
export function useCreateVariantTasks() {
  const create = useCreate();
  const [slots, setSlots] = useState(newSlots);
  const isLeft = useRef(false);
  useEffect(() => () => void (isLeft.current = true), []);
  const submission = useSudoAction(
    async (variants: readonly PlannedVideo[]): Promise<VariantBatchResult> => {
      const accepted: AcceptedVariant[] = [];
      const refused: NotAcceptedVariant[] = [];
      for (const [index, variant] of variants.entries()) {
        const key = slots[index]?.key ?? randomIdempotencyKey();
        try {
          accepted.push(await create(variant, key));
        } catch (error) {
          const problem = apiProblemFromError(error);
          // The service accepted an earlier request of this form, so the next one is a new request.
          const isReused = problem.error === 'idempotency_key_reused';
          refused.push({ variant, key: isReused ? randomIdempotencyKey() : key, problem });
          if (isReused) setSlots((current) => current.map((slot, at) => (at === index ? newSlot() : slot)));
          // The others hold the same invalid field.
          if (problem.error === 'invalid_request' && accepted.length === 0) break;
        }
      }
      // The error of the batch must not hide that one of its tasks may have been accepted.
      const failed = refused.find(({ problem }) => !isCertainlyNotCharged(problem)) ?? refused[0];
      if (accepted.length === 0 && failed !== undefined) throw failed.problem;
      return { accepted, refused };
    },
    {
      onDone: ({ accepted, refused }) => {
        setSlots(newSlots());
        toast(playgroundText.accepted(accepted.length));
        if (!isLeft.current || refused.length === 0) return;
        const areCertain = refused.every(({ problem }) => isCertainlyNotCharged(problem));
        const partly = playgroundText.partlyTitle(refused.length, accepted.length + refused.length);
        toast(areCertain ? partly : playgroundText.checkTasks, 'bad');
      },
      // The form shows it, unless its page was left meanwhile: the keys of a safe retry are lost then.
      onError: (problem) =>
        isLeft.current &&
        toast(isCertainlyNotCharged(problem) ? failureOf(problem).sentence : playgroundText.checkTasks, 'bad'),
    },
  );
  return { submission, seeds: slots.map(({ seed }) => seed) };
}

/** Sends one variant again that was not accepted, as the same request. */
export function useRetryVariant({ variant, key }: NotAcceptedVariant) {
  const create = useCreate();
  return useSudoAction(() => create(variant, key), { onDone: () => toast(playgroundText.accepted(1)) });
}

function useCreate() {
  const account = useContext(AccountContext);
  const refresh = useRefresh();
  return async ({ request }: PlannedVideo, idempotencyKey: string): Promise<AcceptedVariant> => {
    const task = await send('/api/v1/jobs/createTask', request, { account, idempotencyKey });
    refresh();
    return task;
  };
}

function newSlots(): readonly Slot[] {
  return Array.from({ length: maxVariants }, newSlot);
}

function newSlot(): Slot {
  return { key: randomIdempotencyKey(), seed: randomSeed() };
}
