#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { readFileSync } from 'node:fs';
import { addExamples } from './examples.ts';
import { printAndExit } from '../main/run-until-signal.ts';

// Compiled, this file lies in dist/src/cli. A package.json without a version is not ours.
const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('videogen')
  .description('AI video generation as a dependable paid API')
  .option('--json', 'print one JSON object on standard output and nothing else there')
  .version(version, '--version', 'print the version')
  .exitOverride();

// In the order of the help. Only the requested command's module is loaded, because a start must not wait for others.
const commands = {
  start: async () => (await import('./start.ts')).addStartCommand(program),
  worker: async () => (await import('./worker.ts')).addWorkerCommand(program),
  demo: async () => (await import('./demo.ts')).addDemoCommand(program),
  generate: async () => (await import('./generate.ts')).addGenerateCommand(program),
  follow: async () => (await import('./generate.ts')).addFollowCommand(program),
  mcp: async () => (await import('./mcp.ts')).addMcpCommand(program),
  account: async () => (await import('./accounts.ts')).addAccountCommands(program, await runner()),
  credits: async () => (await import('./accounts.ts')).addCreditsCommands(program, await runner()),
  key: async () => (await import('./keys.ts')).addKeyCommands(program, await runner()),
  cap: async () => (await import('./caps.ts')).addCapCommands(program, await runner()),
  operator: async () => (await import('./keys.ts')).addOperatorCommands(program, await runner()),
  user: async () => (await import('./user.ts')).addUserCommands(program, await runner()),
  'sign-up': async () => (await import('./sign-up.ts')).addSignUpCommands(program, await runner()),
  code: async () => (await import('./codes.ts')).addCodeCommands(program, await runner()),
  'top-up': async () => (await import('./top-ups.ts')).addTopUpCommands(program, await runner()),
  price: async () => (await import('./price.ts')).addPriceCommands(program, await runner()),
  balance: async () => (await import('./accounts.ts')).addBalanceCommand(program, await runner()),
  statement: async () => (await import('./statement.ts')).addStatementCommand(program, await runner()),
  task: async () => (await import('./task.ts')).addTaskCommands(program, await runner()),
  'callback-secret': async () => (await import('./keys.ts')).addCallbackSecretCommands(program, await runner()),
  event: async () => (await import('./events.ts')).addEventCommands(program, await runner()),
  secret: async () => (await import('./keys.ts')).addSecretCommands(program, await runner()),
  audit: async () => (await import('./accounts.ts')).addAuditCommand(program, await runner()),
  reconcile: async () => (await import('./reconcile.ts')).addReconcileCommand(program, await runner()),
  provider: async () => (await import('./provider.ts')).addProviderCommands(program, await runner()),
  margin: async () => (await import('./provider.ts')).addMarginCommand(program, await runner()),
  media: async () => (await import('./media.ts')).addMediaCommands(program, await runner()),
  migrate: async () => (await import('./migrate.ts')).addMigrateCommand(program),
  doctor: async () => (await import('./doctor.ts')).addDoctorCommand(program),
};

async function runner() {
  return (await import('./run-command.ts')).createRunner(program);
}

/** Returns the command on the command line; all commands if it is unknown, for the help and for commander's error. */
function requestedCommands(): readonly (() => Promise<void>)[] {
  const [first, second] = process.argv.slice(2);
  const named = Object.entries(commands).filter(([name]) => name === (first === '--json' ? second : first));
  return named.length > 0 ? named.map(([, add]) => add) : Object.values(commands);
}

process.umask(0o077);
try {
  for (const add of requestedCommands()) await add();
  addExamples(program);
  await program.parseAsync();
} catch (error) {
  // Commander has already printed its help or error.
  if (error instanceof CommanderError) process.exit(error.exitCode);
  printAndExit(error);
}
