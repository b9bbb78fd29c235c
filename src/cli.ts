#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { addAccountCommands } from './commands/account.ts';
import { addAuditCommand } from './commands/audit.ts';
import { addCallbackSecretCommands } from './commands/callback-secret.ts';
import { createRunner } from './commands/command-runner.ts';
import { addCreditsCommands } from './commands/credits.ts';
import { addDemoCommand } from './commands/demo.ts';
import { addGenerateCommand } from './commands/generate.ts';
import { addKeyCommands } from './commands/key.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addOperatorCommands } from './commands/operator.ts';
import { addRateCommands } from './commands/rate.ts';
import { addStartCommand } from './commands/start.ts';
import { addTaskCommands } from './commands/task.ts';
import { sayAndExit } from './say-and-exit.ts';

const program = new Command('videogen')
  .description('AI video generation as a dependable paid API')
  .option('--json', 'print one JSON object on standard output and nothing else there')
  .showHelpAfterError()
  .exitOverride();
const run = createRunner(program);
addStartCommand(program);
addDemoCommand(program);
addGenerateCommand(program);
addAccountCommands(program, run);
addCreditsCommands(program, run);
addKeyCommands(program, run);
addOperatorCommands(program, run);
addRateCommands(program, run);
addTaskCommands(program, run);
addCallbackSecretCommands(program, run);
addAuditCommand(program, run);
addMigrateCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  // Commander has printed its own help or complaint already.
  if (error instanceof CommanderError) process.exit(error.exitCode);
  sayAndExit(error);
}
