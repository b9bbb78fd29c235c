import { Argument, type Command } from 'commander';
import { dirname } from 'node:path';
import { dayMs } from '../platform/duration.ts';
import { type Config, secretReader } from '../config/config.ts';
import { unknownName } from '../platform/did-you-mean.ts';
import { unservedModels } from '../models/catalogue/served.ts';
import { presentBookedCredits, presentMargin } from '../credits/margin-view.ts';
import { checkWorkflows, type CheckedWorkflow } from '../providers/workflow-checks.ts';
import { maxMarginMs, type PaidMoney, readBookedCredits, readMargin, readPaidMoney } from '../credits/margin.ts';
import { sectionTitle } from '../credits/section-titles.ts';
import { type ProviderSwitch, providerStates, setProviderSwitchAs } from '../tasks/jobs/provider-pools.ts';
import { type ProviderStatus, readProviderStatuses } from '../tasks/jobs/provider-status.ts';
import { listWorkerReports } from '../models/worker-reports.ts';
import { addCommand } from './add-command.ts';
import { instant, textUpTo } from './arguments.ts';
import { type Answer, CommandError } from './output.ts';
import { addCheckCommand } from './provider-check.ts';
import { addTryCommand } from './provider-try.ts';
import { commandLineActor, type Context, type RunOnDatabase } from './run-command.ts';

export function addProviderCommands(program: Command, run: RunOnDatabase): void {
  const provider = addCommand(program, 'provider').description(
    'list, enable and disable providers, and test their files',
  );
  addCommand(provider, 'list', '', '--json')
    .description('list providers with their switches, slots, waiting tasks, cooldowns, and workflow problems')
    .action(run(list));
  addCommand(provider, 'set', 'gpu-box draining --reason "new drivers tonight"')
    .description('set a provider to enabled, draining (no new jobs) or off (no requests at all)')
    .argument('<provider>', 'name in the catalogue')
    .addArgument(new Argument('<state>').choices(providerStates))
    .requiredOption('--reason <text>', 'reason for the audit log, at most 500 characters', textUpTo(500))
    .action(run(set));
  addTryCommand(program, provider);
  addCheckCommand(program, provider);
}

export function addMarginCommand(program: Command, run: RunOnDatabase): void {
  addCommand(
    program,
    'margin',
    '--from 2026-11-01T00:00:00Z',
    '--from 2026-11-01T00:00:00Z --model videogen-2.0 --json',
  )
    .description(
      'list revenue and cost of tasks that ended in a period, by model and provider, and credits booked in it',
    )
    .requiredOption('--from <when>', 'a time such as 2026-11-01T00:00:00Z', instant)
    .option('--to <when>', 'a time; by default, now', instant)
    .option('--model <model>', 'only this model')
    .option('--provider <provider>', 'only this provider')
    .action(run(margin));
}

async function list({ db, config }: Context): Promise<Answer> {
  const providers = await readProviderStatuses(db, config.catalogue);
  const isOff = (name: string) => providers.some(({ provider, state }) => provider === name && state === 'off');
  const workflows = await checkedWorkflows(config, isOff);
  const reports = await listWorkerReports(db);
  const notSold = unservedModels(config.catalogue, reports);
  const refusals = [...new Set(reports.flatMap(({ refusal }) => refusal ?? []))];
  const lines = [
    ...providers.flatMap(({ provider, ...one }) => [
      ...providerLines({ provider, ...one }),
      ...workflows.filter((workflow) => workflow.provider === provider).flatMap(workflowLines),
    ]),
    ...notSold.map((model) => `${model} is not offered: no live worker has it in its catalogue`),
    ...refusals.map((refusal) => `A worker rejected the catalogue: ${refusal}`),
  ];
  return { json: { providers, workflows, notSold, refusals }, lines };
}

/** The list must not wait for an unreachable server. */
const checkTimeoutMs = 5_000;

async function checkedWorkflows(
  { catalogue, catalogueFile = '' }: Config,
  isOff: (provider: string) => boolean,
): Promise<readonly CheckedWorkflow[]> {
  const readSecret = secretReader(dirname(catalogueFile));
  return await checkWorkflows(catalogue, { readSecret, own: [], isOff, signal: AbortSignal.timeout(checkTimeoutMs) });
}

async function set(
  { db, config }: Context,
  provider: string,
  state: ProviderSwitch,
  { reason }: { reason: string },
): Promise<Answer> {
  const names = (await readProviderStatuses(db, config.catalogue)).map((one) => one.provider);
  if (!names.includes(provider)) throw new CommandError(`${provider}: ${unknownName('provider', provider, names)}`);
  await setProviderSwitchAs(db, commandLineActor(), { provider, state, reason });
  return await list({ db, config });
}

type MarginOptions = { from: number; to?: number; model?: string; provider?: string };

async function margin({ db, config }: Context, options: MarginOptions): Promise<Answer> {
  const { from: fromMs, to: toMs = Date.now(), model, provider } = options;
  const days = maxMarginMs / dayMs;
  if (toMs < fromMs || toMs - fromMs > maxMarginMs)
    throw new CommandError(`--to must be between --from and ${days} days later`);
  const { creditValue } = config.catalogue;
  const { currency } = creditValue;
  const rows = await readMargin(db, { fromMs, toMs, currency, model, provider });
  const presented = rows.map((row) => presentMargin(row, config.catalogue));
  const booked = (await readBookedCredits(db, { fromMs, toMs })).map((one) =>
    presentBookedCredits(one, config.catalogue),
  );
  const paid = await readPaidMoney(db, { fromMs, toMs });
  const lines = presented.map((row) => {
    const { creditsCharged, creditsRefunded, revenueMicros, costMicros, marginMicros } = row;
    const { unknownJobs, foreignJobs } = row;
    const unknown = `unknown (${unknownJobs} jobs of unknown cost, ${foreignJobs} in another currency)`;
    const gain = marginMicros === null ? unknown : money(marginMicros, currency);
    const cost = `cost ${money(costMicros, currency)}`;
    const credits = `${creditsCharged} credits charged, ${creditsRefunded} refunded  revenue ${money(revenueMicros, currency)}`;
    return `${row.model}  ${row.priceName}  ${row.provider}  ${row.tasks} tasks, ${row.jobs} jobs  ${credits}  ${cost}  margin ${gain}`;
  });
  return {
    json: { currency, creditMicros: creditValue.micros, rows: presented, booked, paid },
    lines: [
      ...(lines.length > 0 ? lines : ['No tasks.']),
      ...booked.map((one) => bookedLine(one, currency)),
      ...paid.map(paidLine),
    ],
  };
}

function paidLine({ currency, isTest, topUps, minorUnits, returnedMinorUnits }: PaidMoney): string {
  const mode = isTest ? ' (test mode)' : '';
  const returned = `${returnedMinorUnits} minor units returned`;
  return `paid${mode}  ${topUps} top-ups  ${minorUnits} minor units of ${currency}  ${returned}`;
}

function bookedLine(booked: ReturnType<typeof presentBookedCredits>, currency: string): string {
  const { section, entries, credits, valueMicros, isRevenue } = booked;
  const value = `worth ${money(valueMicros, currency)}, ${isRevenue ? 'revenue' : 'no revenue'}`;
  return `${sectionTitle(section)}  ${entries} entries, ${credits} credits  ${value}`;
}

function money(micros: number, currency: string): string {
  return `${(micros / 1_000_000).toFixed(2)} ${currency}`;
}

function providerLines({ provider, kind, origin, state, reason, pools }: ProviderStatus): readonly string[] {
  const why = reason === null ? '' : ` (${reason})`;
  return [
    [provider, kind ?? 'not in the catalogue', origin ?? 'here', `${state}${why}`].join('  '),
    ...pools.map((one) => {
      const { pool, limit, occupying, unanswered, waiting, consecutiveFailures, coolingReason, coolingMs } = one;
      const lost = unanswered === 0 ? '' : ` (${unanswered} without a response)`;
      const cooling = coolingMs === null ? '' : `, cooling ${Math.ceil(coolingMs / 1000)} s: ${coolingReason}`;
      const health = consecutiveFailures === 0 ? '' : `, ${consecutiveFailures} consecutive failures${cooling}`;
      return `  ${pool}  ${occupying} of ${limit ?? '?'} slots${lost}, ${waiting} waiting${health}`;
    }),
  ];
}

function workflowLines({ pool, workflow, problems, warnings, unchecked }: CheckedWorkflow): readonly string[] {
  if (unchecked !== undefined) return [`  ${pool}  ${workflow} could not be checked: ${unchecked}`];
  const lines = [...problems, ...warnings.map((warning) => `warning: ${warning}`)];
  return lines.map((text) => `  ${pool}  ${workflow}: ${text}`);
}
