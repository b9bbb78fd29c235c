import type { Evidence, FinalTask } from './judge/evidence.ts';

export type ChaosReport = {
  readonly seed: number;
  readonly seconds: number;
  /** Creates by what came of them. */
  readonly wishes: Readonly<Record<string, number>>;
  /** Codes that two accounts redeemed at the same time. */
  readonly codes: number;
  /** Orders of credits by their last answer, and checkouts by their state at Stripe in the end. */
  readonly orders: Readonly<Record<string, number>>;
  readonly checkouts: Readonly<Record<string, number>>;
  readonly tasks: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  readonly callbacks: number;
  /** From acceptance to the final state, and from the last fault until nothing was open. */
  readonly slowestTaskSeconds: number;
  readonly settleSeconds: number;
  /** Jobs that the upstreams made. */
  readonly jobs: number;
  /** The histories of the slowest tasks, line by line. */
  readonly slowTasks: readonly string[];
  readonly excused: readonly string[];
  readonly violations: readonly string[];
};

export function counted(keys: readonly string[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, 1 + (counts.get(key) ?? 0));
  return Object.fromEntries([...counts].toSorted(([a], [b]) => a.localeCompare(b)));
}

/** Counts the wishes by their last response. */
export function outcomesOf({ wishes }: Evidence): Readonly<Record<string, number>> {
  return counted(
    wishes.map(({ hasKey, answers }) => {
      const isAccepted = answers.some(({ status }) => status === 200);
      const last = answers.at(-1);
      const isCapped = last?.msg.includes('may spend') === true;
      const refusal = isCapped ? 'spend cap reached' : last?.msg.includes('disk') === true ? 'disk full' : last?.status;
      const status = isAccepted ? 200 : (refusal ?? 'no answer');
      return `${status}, ${hasKey ? 'with' : 'without'} key${answers.length > 1 ? ', repeated' : ''}`;
    }),
  );
}

/** The end of a task, as the report counts it. */
export function endOfTask({ state, failCode, creditsRefunded }: FinalTask): string {
  if (failCode !== null) return `${state} ${failCode}`;
  return creditsRefunded > 0 ? `${state}, partly refunded` : state;
}

export function checkoutsOf({ payments }: Evidence): Readonly<Record<string, number>> {
  return counted(
    payments.sessions.map(({ state, taken, due }) =>
      taken.length === 0 ? state : `${state}, ${due > 0 ? 'partly' : 'wholly'} returned`,
    ),
  );
}

/** One table, for a person. */
export function printed(report: ChaosReport): string {
  const rows: (readonly [string, string | number])[] = [
    ['seed', report.seed],
    ['load and faults', `${report.seconds} s`],
    ...Object.entries(report.wishes).map(([name, count]) => [`create: ${name}`, count] as const),
    ...Object.entries(report.tasks).map(([name, count]) => [`task: ${name}`, count] as const),
    ['codes redeemed', report.codes],
    ...Object.entries(report.orders).map(([name, count]) => [`order of credits: ${name}`, count] as const),
    ...Object.entries(report.checkouts).map(([name, count]) => [`checkout: ${name}`, count] as const),
    ['callbacks received', report.callbacks],
    ['jobs upstream', report.jobs],
    ...Object.entries(report.faults).map(([name, count]) => [`fault: ${name}`, count] as const),
    ['slowest task', `${report.slowestTaskSeconds} s`],
    ['settled after the last fault', `${report.settleSeconds} s`],
    ['excused (docs/decisions)', report.excused.length],
    ['VIOLATIONS', report.violations.length],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
  return [
    ...lines,
    ...report.slowTasks,
    ...report.excused.map((each) => `excused: ${each}`),
    ...report.violations,
  ].join('\n');
}
