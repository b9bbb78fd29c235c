import type { Command } from 'commander';
import { type Config, readConfig } from '../../config/config.ts';
import { SetupError } from '../../../platform/setup-errors-and-error-messages.ts';
import type { TemporalTarget } from '../../../temporal/connection/connect.ts';
import { addCommand } from '../add-command.ts';
import { type CommandAnswer, CommandError, isJsonRequested, printAnswer } from '../command-output-and-errors.ts';
import { withRunningDatabaseUrl } from '../database-and-temporal-for-commands.ts';

export function addMigrateCommand(program: Command): void {
  addCommand(program, 'migrate')
    .description('update the database schema and the Temporal namespace; safe to repeat')
    .action(async () => {
      const answer = await migrate(readConfig());
      printAnswer(answer, isJsonRequested(program));
    });
}

/** Runs missing migrations and registers search attributes. An embedded Temporal registers them at its start. */
async function migrate(config: Config): Promise<CommandAnswer> {
  const { migrateToLatest, describeNewerSchema } = await import('../../schema/migrator.ts');
  let upToDate = 'The schema was up to date.';
  const reportNewer = (names: readonly string[]) => {
    upToDate = describeNewerSchema(names);
  };
  const run = (url: string) => migrateToLatest(url, reportNewer);
  const migrations = await withRunningDatabaseUrl(config, run).catch(explainConnectionError);
  const searchAttributes = config.temporal === undefined ? [] : await register(config.temporal);
  const lines = [
    migrations.length === 0 ? upToDate : `Migrated: ${migrations.join(', ')}.`,
    ...(searchAttributes.length === 0 ? [] : [`Registered search attributes: ${searchAttributes.join(', ')}.`]),
  ];
  return { json: { migrations, searchAttributes }, lines };
}

async function explainConnectionError(error: unknown): Promise<never> {
  const { explainDatabaseError, isConnectionError } = await import('../../doctor/check-database.ts');
  if (error instanceof SetupError || !isConnectionError(error)) throw error;
  const { message, remedy } = explainDatabaseError(error);
  throw new CommandError(`the database cannot be used: ${message}. ${remedy}`);
}

async function register(target: TemporalTarget): Promise<readonly string[]> {
  const { withCheckedTemporal } = await import('../with-checked-temporal.ts');
  const { registerSearchAttributes } = await import('../../../temporal/connection/search-attributes.ts');
  return withCheckedTemporal(target, (client) => registerSearchAttributes(client));
}
