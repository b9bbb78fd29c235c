// The states of an upstream job. The types, the SQL of rows, the check of the column `outcome`, and the table in docs/path-of-a-task.md
// come from this declaration.

type JobStateRule = {
  readonly means: string;
  /** Condition on a row of `provider_jobs` in this state; an open job also has no outcome. */
  readonly row: string;
  /** The file in `activities/generation` whose step continues an open job. A state without one is an end, and the `outcome` of the row. */
  readonly step?: 'submit-job' | 'run-in-request' | 'resume-or-look-up-job' | 'follow-job' | 'fetch-and-stage-video';
  /** True for an end after which the job may still run, and cost, upstream, until the row is settled. */
  readonly mayRun?: boolean;
  readonly leadsTo: readonly string[];
};

export const jobStateTable = {
  reserved: {
    means: 'A slot is leased, and nothing was sent.',
    row: 'intended_at is null',
    step: 'submit-job',
    leadsTo: ['unanswered', 'in_request', 'not_created'],
  },
  unanswered: {
    means: 'The intent is committed. The create is in flight, or its response was lost.',
    row: 'intended_at is not null and job_id is null',
    step: 'resume-or-look-up-job',
    leadsTo: ['running', 'fail', 'not_created', 'refused', 'abandoned'],
  },
  in_request: {
    means: 'The intent is committed. The job lives in the request that creates it, and ends with it.',
    row: 'job_id is not null and submitted_at is null',
    step: 'run-in-request',
    leadsTo: ['success', 'fail', 'not_created', 'refused', 'abandoned'],
  },
  running: {
    means: 'The upstream has accepted the job.',
    row: 'submitted_at is not null and upstream_ended_at is null',
    step: 'follow-job',
    leadsTo: ['succeeded', 'fail', 'abandoned', 'late_success'],
  },
  succeeded: {
    means:
      'The job has ended upstream, which frees its slot. The video is not stored yet. An attempt that resumes it polls it once more, for the addresses of its files.',
    row: 'submitted_at is not null and upstream_ended_at is not null',
    step: 'fetch-and-stage-video',
    leadsTo: ['success', 'fail', 'abandoned', 'late_success'],
  },
  success: {
    means: 'The video is in our store.',
    row: "outcome = 'success'",
    leadsTo: ['late_success'],
  },
  fail: {
    means: 'The job failed, or the upstream refused the content of its request, which ends the task.',
    row: "outcome = 'fail'",
    leadsTo: [],
  },
  not_created: {
    means: 'It is certain that no job exists. A create that arrives nevertheless is stopped.',
    row: "outcome = 'not_created'",
    leadsTo: ['abandoned'],
  },
  refused: {
    means: 'The upstream refused the request. Another provider may accept it.',
    row: "outcome = 'refused'",
    leadsTo: [],
  },
  abandoned: {
    means: 'No task waits for the job any more. `reconcile` stops it, unless it is settled.',
    row: "outcome = 'abandoned'",
    mayRun: true,
    leadsTo: ['late_success'],
  },
  late_success: {
    means:
      'The video arrived after the refund, or beside another of its task. It was paid for upstream, and is not delivered.',
    row: "outcome = 'late_success'",
    leadsTo: [],
  },
} as const satisfies Readonly<Record<string, JobStateRule>>;

export type JobState = keyof typeof jobStateTable;
export type OpenJobState = {
  [State in JobState]: (typeof jobStateTable)[State] extends { step: string } ? State : never;
}[JobState];
export type JobOutcome = Exclude<JobState, OpenJobState>;

/** The same table for code that reads any state; a transition to an unknown state does not compile. */
export const jobStateRules: Readonly<Record<JobState, JobStateRule & { readonly leadsTo: readonly JobState[] }>> = {
  ...jobStateTable,
};

const names = Object.keys(jobStateTable) as JobState[]; // the keys of the declaration

export const jobOutcomes: readonly JobOutcome[] = names.filter((name): name is JobOutcome => !isOpen(name));

function isOpen(state: JobState): state is OpenJobState {
  return jobStateRules[state].step !== undefined;
}

/** Condition on a row of `provider_jobs` that has no end, or one after which its job may still run upstream. */
export const jobMayExistSql = [
  'outcome is null',
  ...jobOutcomes.flatMap((name) => (jobStateRules[name].mayRun === true ? jobStateRules[name].row : [])),
].join(' or ');
