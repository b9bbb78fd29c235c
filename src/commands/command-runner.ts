import type { Command } from 'commander';
import { type Config, readConfig } from '../config.ts';
import type { Database } from '../stores/database.ts';
import { withDatabase } from './open-database.ts';
import { type Answer, printAnswer } from './output.ts';

/** Wraps a command that answers something: reads the configuration, runs it, prints its answer. */
export type RunOnDatabase = <Parameters extends unknown[]>(
  work: (context: { readonly db: Database; readonly config: Config }, ...parameters: Parameters) => Promise<Answer>,
) => (...parameters: Parameters) => Promise<void>;

/** Commander calls an action with its arguments, its options and the command itself; `--json` is read from the program. */
export function createRunner(program: Command): RunOnDatabase {
  return (work) =>
    async (...parameters) => {
      const config = readConfig();
      const answer = await withDatabase(config, (db) => work({ db, config }, ...parameters));
      printAnswer(answer, program.opts<{ json?: boolean }>().json === true);
    };
}
