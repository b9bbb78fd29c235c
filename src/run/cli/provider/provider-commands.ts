import { Argument, type Command } from 'commander';
import { dirname } from 'node:path';
import { type Config, catalogueSecretReader } from '../../config/config.ts';
import { unknownNameMessage } from '../../../platform/text/did-you-mean.ts';
import { unservedModels } from '../../../catalogue/models/models-served-by-workers.ts';
import {
  compareWorkflowsWithServers,
  type WorkflowCheckResult,
} from '../../../providers/comfy/compare-workflows-with-servers.ts';
import {
  type ProviderSwitchPosition,
  providerSwitchPositions,
  setProviderSwitchAs,
} from '../../../tasks/jobs/provider-pools-and-switches.ts';
import { type ProviderStatus, readProviderStatuses } from '../../../tasks/jobs/list-providers-with-pools.ts';
import { listLiveWorkerReports } from '../../../catalogue/models/worker-report-rows.ts';
import { addCommand } from '../add-command.ts';
import { textParser } from '../arguments.ts';
import { type CommandAnswer, alignColumns, usageError } from '../command-output-and-errors.ts';
import { addOwnProtocolCheckCommand } from './own-protocol-check-command.ts';
import { addProviderFileTryCommand } from './provider-file-try-command.ts';
import { commandLineActor, type DatabaseAndConfig, type RunOnDatabase } from '../database-and-temporal-for-commands.ts';

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
    .addArgument(new Argument('<state>').choices(providerSwitchPositions))
    .requiredOption('--reason <text>', 'reason for the audit log, at most 500 characters', textParser(500))
    .action(run(set));
  addProviderFileTryCommand(program, provider);
  addOwnProtocolCheckCommand(program, provider);
}

async function list({ db, config }: DatabaseAndConfig): Promise<CommandAnswer> {
  const providers = await readProviderStatuses(db, config.catalogue);
  const isOff = (name: string) => providers.some(({ provider, state }) => provider === name && state === 'off');
  const workflows = await checkedWorkflows(config, isOff);
  const reports = await listLiveWorkerReports(db);
  const notSold = unservedModels(config.catalogue, reports);
  const refusals = [...new Set(reports.flatMap(({ refusal }) => refusal ?? []))];
  const [header = '', ...rows] = alignColumns(['PROVIDER', 'KIND', 'ORIGIN', 'STATE'], providers.map(providerRow));
  const lines = [
    header,
    ...providers.flatMap(({ provider, pools }, index) => [
      rows[index] ?? '',
      ...pools.map(poolLine),
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
): Promise<readonly WorkflowCheckResult[]> {
  const readSecret = catalogueSecretReader(dirname(catalogueFile));
  return await compareWorkflowsWithServers(catalogue, {
    readSecret,
    own: [],
    isOff,
    signal: AbortSignal.timeout(checkTimeoutMs),
  });
}

async function set(
  { db, config }: DatabaseAndConfig,
  provider: string,
  state: ProviderSwitchPosition,
  { reason }: { reason: string },
): Promise<CommandAnswer> {
  const names = (await readProviderStatuses(db, config.catalogue)).map((one) => one.provider);
  if (!names.includes(provider)) throw usageError(`${provider}: ${unknownNameMessage('provider', provider, names)}`);
  await setProviderSwitchAs(db, commandLineActor(), { provider, state, reason });
  return await list({ db, config });
}

function providerRow({ provider, kind, origin, state, reason }: ProviderStatus): readonly string[] {
  const why = reason === null ? '' : ` (${reason})`;
  return [provider, kind ?? 'not in the catalogue', origin ?? 'here', `${state}${why}`];
}

function poolLine(state: ProviderStatus['pools'][number]): string {
  const { pool, limit, occupying, unanswered, waiting, consecutiveFailures, coolingReason, coolingMs } = state;
  const lost = unanswered === 0 ? '' : ` (${unanswered} without a response)`;
  const cooling = coolingMs === null ? '' : `, cooling ${Math.ceil(coolingMs / 1000)} s: ${coolingReason}`;
  const health = consecutiveFailures === 0 ? '' : `, ${consecutiveFailures} consecutive failures${cooling}`;
  return `  ${pool}  ${occupying} of ${limit ?? '?'} slots${lost}, ${waiting} waiting${health}`;
}

function workflowLines({ pool, workflow, problems, warnings, unchecked }: WorkflowCheckResult): readonly string[] {
  if (unchecked !== undefined) return [`  ${pool}  ${workflow} could not be checked: ${unchecked}`];
  const lines = [...problems, ...warnings.map((warning) => `warning: ${warning}`)];
  return lines.map((text) => `  ${pool}  ${workflow}: ${text}`);
}
