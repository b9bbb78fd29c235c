import type { CreateAnswer, Evidence, FinalTask, RedeemedCode, Wish } from './evidence.ts';
import { judgeShortResult } from './judge-short-results.ts';
import { judgeKinds } from './judge-upstream-books.ts';
import { judgeOutages } from './judge-outage.ts';
import { judgeFullDisks, judgeProcesses } from './judge-processes.ts';
import { judgePayments } from './judge-payments.ts';

/** Everything that must hold after any amount of damage; answers a sentence for each breach, and what had to be excused. */
export function check(evidence: Evidence): {
  readonly violations: readonly string[];
  readonly excused: readonly string[];
} {
  const tasksOf = (wish: Wish) => evidence.tasks.filter(({ nonce }) => nonce === wish.nonce);
  const verdicts = evidence.wishes.map((wish) => judgeWish(wish, tasksOf(wish), evidence));
  const wished = new Set(evidence.wishes.map(({ nonce }) => nonce));
  return {
    violations: [
      ...verdicts.flatMap(({ violations }) => violations),
      ...evidence.tasks
        .filter(({ nonce }) => !wished.has(nonce))
        .map(({ taskId }) => `task ${taskId} was never requested`),
      ...evidence.tasks.flatMap((task) => judgeTask(task, evidence)),
      ...evidence.tasks.flatMap((task) => judgeCallbacks(task, evidence)),
      ...evidence.tasks.flatMap((task) => judgeVideo(task, evidence)),
      ...evidence.setbacks,
      ...evidence.ledger.map(({ rule, detail }) => `the books: ${rule}, ${detail}`),
      ...judgeBalances(evidence),
      ...evidence.codes.flatMap(judgeCode),
      ...judgeCaps(evidence),
      ...judgePayments(evidence.payments),
      ...judgeKinds(evidence),
      ...judgeOutages(evidence),
      ...judgeFullDisks(evidence.damage.fullDisks),
      ...judgeProcesses(evidence.processes),
      ...evidence.damage.missed.map((name) => `the fault was not injected: ${name}`),
    ],
    excused: verdicts.flatMap(({ excused }) => excused),
  };
}

type Verdict = { readonly violations: readonly string[]; readonly excused: readonly string[] };

/** Every answer the client got must still be true. */
function judgeWish(wish: Wish, tasks: readonly FinalTask[], evidence: Evidence): Verdict {
  const wrong = (...sentences: readonly string[]) => ({
    violations: sentences.map((sentence) => `${wish.nonce} ${sentence} (answers: ${answersOf(wish)})`),
    excused: [],
  });
  const accepted = wish.answers.filter(({ status }) => status === 200);
  if (tasks.length > 1) return wrong(`became ${tasks.length} tasks`);
  const [task] = tasks;
  if (task !== undefined && !mayEndSo(wish, task, evidence))
    return wrong(`had to end in ${wish.end}, and did in ${endOf(task)}`);
  if (accepted.length > 0) return wrong(...accepted.flatMap((answer) => judgeAccepted(answer, wish, task)));
  if (wish.hasKey && !wish.answers.some(isRefusal)) return wrong('was repeated with its key, and never answered');
  if (task === undefined || wish.answers.some(({ status }) => status === undefined)) return wrong();
  const last = wish.answers.at(-1);
  if (last === undefined || !isWithdrawn(last)) return wrong(`was refused, and is task ${task.taskId}`);
  if (task.state === 'fail') return wrong();
  const sentence = `${wish.nonce} was answered 503, and is task ${task.taskId} in ${task.state}`;
  if (isExcused(last, task, evidence)) return { violations: [], excused: [sentence] };
  return { violations: [sentence], excused: [] };
}

function judgeAccepted(answer: CreateAnswer, wish: Wish, task: FinalTask | undefined): readonly string[] {
  if (task === undefined) return ['was answered 200, and there is no task'];
  if (answer.taskId !== task.taskId) return [`was answered ${answer.taskId}, and is task ${task.taskId}`];
  const charges = new Set([answer.creditsCharged, task.creditsCharged, wish.charge]);
  return charges.size === 1 ? [] : [`was to cost ${[...charges].join(' or ')}`];
}

/** A task fails only for its own reason, or because it was stopped, no matter what was killed. */
function mayEndSo({ end, otherEnd, answers }: Wish, task: FinalTask, evidence: Evidence): boolean {
  const ended = endOf(task);
  if (ended === end || ended === otherEnd || task.completedAt === null) return true;
  if (ended !== 'cancelled' && ended !== 'terminated') return false;
  // The 503 that announces the refund may have been lost.
  const mayBeWithdrawn = answers.some((answer) => isWithdrawn(answer) || answer.status === undefined);
  return evidence.damage.stopped.has(task.taskId) || (ended === 'cancelled' && mayBeWithdrawn);
}

function endOf({ state, failCode }: FinalTask): string {
  return failCode ?? state;
}

/** A 503 is not final: the client repeats the request. */
function isRefusal({ status }: CreateAnswer): boolean {
  return status !== undefined && status >= 400 && status < 500;
}

/** The one 503 behind which a task may be found: accepted all the same, and then refunded. */
function isWithdrawn({ status, msg }: CreateAnswer): boolean {
  return status === 503 && msg.includes('withdrawn');
}

/** An API that is killed before it could refund an uncertain create has forgotten it: the gap described in docs/decisions. */
function isExcused({ api, atMs }: CreateAnswer, { completedAt }: FinalTask, { apisHurtAt }: Evidence): boolean {
  const until = completedAt ?? Infinity;
  return (apisHurtAt[api] ?? []).some((hurtAt) => hurtAt >= atMs - 1_000 && hurtAt <= until);
}

function answersOf({ answers }: Wish): string {
  return answers.map(({ status, msg }) => (status === 200 ? '200' : `${status ?? 'none'} ${msg}`)).join('; ');
}

function judgeTask(task: FinalTask, { wishes, videos }: Evidence): readonly string[] {
  const { taskId, state, creditsCharged, creditsRefunded } = task;
  if (state !== 'success' && state !== 'fail') return [`task ${taskId} is still ${state}`];
  const order = wishes.find(({ nonce }) => nonce === task.nonce)?.shortOrder;
  if (state === 'success' && order !== undefined) return judgeShortResult(task, order, videos.get(taskId));
  const owed = state === 'fail' ? creditsCharged : 0;
  return creditsRefunded === owed
    ? []
    : [`task ${taskId} in ${state} got ${creditsRefunded} credits back, not ${owed}`];
}

function judgeCallbacks({ taskId, state, failCode, ...task }: FinalTask, { callbacks }: Evidence): readonly string[] {
  const seen = callbacks.filter((callback) => callback.taskId === taskId);
  if (!task.hasCallback) return seen.length === 0 ? [] : [`task ${taskId} was called back without a callback URL`];
  const contents = new Set(seen.map(({ content }) => content));
  const expected = callbackContent({ taskId, state, failCode, ...task });
  return [
    ...(seen.some(({ isAccepted }) => isAccepted) ? [] : [`task ${taskId} was never called back with success`]),
    ...(seen.every(({ isSigned }) => isSigned) ? [] : [`a callback of task ${taskId} had no valid signature`]),
    ...(seen.length === 0 || (contents.size === 1 && contents.has(expected))
      ? []
      : [`task ${taskId} was called back with ${[...contents].join(' and ')} instead of ${expected}`]),
  ];
}

/** The part that is equal in every callback of a task. */
export function callbackContent({
  taskId,
  state,
  failCode,
  creditsCharged,
  creditsRefunded,
}: Pick<FinalTask, 'taskId' | 'state' | 'failCode' | 'creditsCharged' | 'creditsRefunded'>): string {
  return JSON.stringify({ taskId, state, failCode, creditsCharged, creditsRefunded });
}

function judgeVideo({ taskId, state }: FinalTask, { videos }: Evidence): readonly string[] {
  if (state !== 'success') return [];
  const video = videos.get(taskId);
  if (video === undefined) return [`the video of task ${taskId} was never checked`];
  if (typeof video === 'string') return [`the video of task ${taskId}: ${video}`];
  const widthPx = video.isUpright ? 720 : 1280;
  return video.widthPx === widthPx ? [] : [`the video of task ${taskId}: it is ${video.widthPx} px wide`];
}

function judgeBalances({ balances, tasks, codes, payments }: Evidence): readonly string[] {
  return balances.flatMap(({ accountId, opened, now }, client) => {
    const own = tasks.filter((task) => task.client === client && task.state === 'success');
    const redeemed = codes.filter(({ winners }) => winners.includes(client));
    const bought = payments.sessions.filter((session) => session.accountId === accountId);
    const given = [...redeemed.map(({ credits }) => credits), ...bought.map(({ due }) => due)];
    const paid = own.map(({ creditsCharged, creditsRefunded }) => creditsRefunded - creditsCharged);
    const expected = [...given, ...paid].reduce((sum, amount) => sum + amount, opened);
    return now === expected
      ? []
      : [`account ${client} has ${now} credits, its codes, payments and successful tasks leave ${expected}`];
  });
}

function judgeCode({ winners, unanswered }: RedeemedCode, index: number): readonly string[] {
  return [
    ...(unanswered > 0 ? [`a redemption of code ${index} was never answered`] : []),
    ...(winners.length === 1 ? [] : [`code ${index} was granted to ${winners.length} accounts`]),
  ];
}

function judgeCaps({ caps }: Evidence): readonly string[] {
  return caps
    .filter(({ credits, spent }) => spent > credits)
    .map(({ client, credits, spent }) => `account ${client} spent ${spent} credits under a cap of ${credits}`);
}
