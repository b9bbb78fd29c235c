import type { JsonObject } from '../../platform/text/json.ts';
import {
  bodyOrStatusOfPoll,
  createStateReader,
  declinesCancel,
  unclearPollOf,
  type MissingOrUnclearPoll,
  type AnswerOrError,
} from '../classify-upstream-answers.ts';
import type { CancelOutcome, Job, JobStatus, Warn } from '../provider-contract.ts';

// Most APIs answer with a record of the job to its creation, to a read and to a cancellation. An adapter declares how its vendor
// spells records.

/** `stopping`: the job may still run after its cancellation. `missing`: the upstream has lost it. */
type JobState = 'queued' | 'running' | 'stopping' | EndState | 'missing';
export type EndState = 'succeeded' | 'failed' | 'canceled';

/** The outcome of a cancellation by the state that is read after it; `unclear` is a read without a verdict. */
export const cancelOutcomeOfState: Readonly<Record<JobState | 'unclear', CancelOutcome>> = {
  queued: 'runs_on',
  running: 'runs_on',
  stopping: 'unclear',
  succeeded: 'ended',
  failed: 'ended',
  canceled: 'cancelled',
  missing: 'ended',
  unclear: 'unclear',
};

type JobRecord = {
  readonly id: string;
  readonly status: string;
  /** 0 to 100. */
  readonly progress?: number | undefined;
};

export type JobObjectRules<Read extends JobRecord> = {
  /** Returns the record in a body; undefined for any other body. */
  readonly recordIn: (body: JsonObject) => Read | undefined;
  /** True if the vendor itself answers that it does not know the job. The 404 of a proxy proves nothing. */
  readonly isMissing: (body: JsonObject, httpStatus: number) => boolean;
  /** The vendor's words for states. */
  readonly states: Readonly<Record<string, JobState>>;
  readonly endOf: (record: Read, state: EndState, job: Job) => JobStatus;
};

export function createJobObjectReader<Read extends JobRecord>(rules: JobObjectRules<Read>, warn: Warn) {
  const { recordIn, isMissing, endOf } = rules;
  const readState = createStateReader(rules.states, warn);
  const stateIn = ({ status }: Read): JobState => readState(status);
  /** A record of another job proves nothing. */
  const read = (reply: AnswerOrError, id: string): { readonly record: Read } | MissingOrUnclearPoll => {
    const poll = bodyOrStatusOfPoll(reply, isMissing);
    if ('status' in poll) return poll;
    const record = recordIn(poll.body);
    return record?.id === id ? { record } : unclearPollOf(reply);
  };
  const statusIn = (record: Read, job: Job): JobStatus => {
    const state = stateIn(record);
    if (state === 'missing') return { state };
    if (state !== 'queued' && state !== 'running' && state !== 'stopping') return endOf(record, state, job);
    const { progress } = record;
    return { state: state === 'queued' ? state : 'running', ...(progress !== undefined && { progress }) };
  };
  return {
    read,
    stateIn,
    statusIn,
    statusOf: (reply: AnswerOrError, job: Job): JobStatus => {
      const found = read(reply, job.id);
      return 'record' in found ? statusIn(found.record, job) : found.status;
    },
    /** `reply` answers a cancellation. */
    cancelOutcomeOf: (reply: AnswerOrError, { id }: Job): CancelOutcome => {
      const found = read(reply, id);
      return 'record' in found ? cancelOutcomeOfState[stateIn(found.record)] : cancelOutcomeWithoutJob(reply, found);
    },
  };
}

export function cancelOutcomeWithoutJob(reply: AnswerOrError, { status }: MissingOrUnclearPoll): CancelOutcome {
  if (status.state === 'missing') return 'ended';
  return declinesCancel(reply) ? 'runs_on' : 'unclear';
}
