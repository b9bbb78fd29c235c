import { type Command, Option } from 'commander';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../../platform/setup-errors-and-error-messages.ts';
import {
  type DoctorRole,
  doctorRoles,
  runDoctorChecks,
  checkNodeAndMemory,
  type FoundDependencies,
} from '../../doctor/doctor.ts';
import { failure, type Finding, type FindingState, ok } from '../../doctor/checks-and-findings.ts';
import { addCommand } from '../add-command.ts';
import { type CommandAnswer, isJsonRequested, printAnswer } from '../command-output-and-errors.ts';
import { readConfigWithRecordedCatalogue } from '../config-with-recorded-catalogue.ts';

export function addDoctorCommand(program: Command): void {
  addCommand(program, 'doctor', '', '--role worker --json')
    .description('check settings, dependencies, permissions and machine, and show how to fix problems')
    .addOption(
      new Option('--role <role>', 'the whole installation, or a process of this role on this machine')
        .choices(doctorRoles)
        .default('all'),
    )
    .action(async ({ role }: { role: DoctorRole }) => {
      const findings = await findingsFor(role);
      const answer = present(findings);
      printAnswer(answer, isJsonRequested(program));
      // A check that timed out may keep the process alive.
      process.stdout.write('', () => process.exit(answer.json['state'] === 'error' ? 1 : 0));
    });
}

async function findingsFor(role: DoctorRole): Promise<readonly Finding[]> {
  try {
    const config = readConfigWithRecordedCatalogue({ isExternal: role !== 'all' });
    const isRead = ok('configuration', 'all settings are valid');
    return [isRead, ...(await runDoctorChecks(await withEmbeddedFfmpeg(config), await runningParts(config), role))];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = error.problems.map((message) =>
      failure('configuration', message, 'Correct it, then run doctor again.'),
    );
    return [...problems, ...checkNodeAndMemory()];
  }
}

/** `npm start` uses the pinned ffmpeg once it has downloaded it. */
async function withEmbeddedFfmpeg(config: Config): Promise<Config> {
  if (config.ffmpegPath !== undefined || config.databaseUrl !== undefined) return config;
  const { ffmpegCachePath } = await import('../../embedded/find-or-download-ffmpeg.ts');
  const ffmpegPath = ffmpegCachePath(config.cacheFolder);
  return existsSync(ffmpegPath) ? { ...config, ffmpegPath } : config;
}

/** Returns the dependencies in the settings, else those of an `npm start` that runs on this data folder. */
async function runningParts(config: Config): Promise<FoundDependencies> {
  const { databaseUrl, temporal, secret, dataFolder, temporalNamespace: namespace } = config;
  const found = { databaseUrl, temporal, secret };
  if (databaseUrl !== undefined && temporal !== undefined) return found;
  const { findPostgresUrl } = await import('../../embedded/postgres/postgres-server.ts');
  const { embeddedFoldersByName, postgresFolder } = await import('../../embedded/server-folders.ts');
  const { isPortFree, readPort } = await import('../../embedded/local-ports.ts');
  const port = await readPort(join(dataFolder, 'temporal', 'port'));
  const address = port === undefined || (await isPortFree(port)) ? undefined : `127.0.0.1:${port}`;
  return {
    // The checks report an unreadable folder.
    databaseUrl: databaseUrl ?? (await findPostgresUrl(postgresFolder(config)).catch(() => undefined)),
    temporal: temporal ?? (address === undefined ? undefined : { connection: { address }, namespace }),
    // The first start creates it.
    secret: secret ?? (await readFile(join(dataFolder, 'secret'), 'utf8').catch(() => undefined))?.trim(),
    folders: embeddedFoldersByName(config),
  };
}

const marks: Readonly<Record<FindingState, string>> = {
  ok: 'ok      ',
  warning: 'warning ',
  error: 'ERROR   ',
  unknown: '?       ',
};

function present(findings: readonly Finding[]): CommandAnswer {
  const count = (state: FindingState) => findings.filter((finding) => finding.state === state).length;
  const [errors, warnings] = [count('error'), count('warning')];
  const state = errors > 0 ? 'error' : warnings > 0 ? 'warning' : 'ok';
  const lines = findings.flatMap(({ check, state: found, message, remedy }) => [
    `${marks[found]} ${check}: ${message}`,
    ...(remedy === undefined ? [] : [`           → ${remedy}`]),
  ]);
  const sum = `${errors} errors, ${warnings} warnings`;
  return { json: { state, errors, warnings, findings }, lines: [...lines, '', sum] };
}
