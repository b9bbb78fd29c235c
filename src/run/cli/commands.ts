import type { Command } from 'commander';

type AddCommand = (program: Command) => Promise<void>;

/** All commands, in the order of the help. Only the requested command's module is loaded, because a start must not wait for others. */
export const commandsByName: Readonly<Record<string, AddCommand>> = {
  start: async (program) => (await import('./commands/start-command.ts')).addStartCommand(program),
  worker: async (program) => (await import('./commands/worker-command.ts')).addWorkerCommand(program),
  demo: async (program) => (await import('./demo/demo-command.ts')).addDemoCommand(program),
  generate: async (program) => (await import('./generate/generate-commands.ts')).addGenerateCommand(program),
  follow: async (program) => (await import('./generate/generate-commands.ts')).addFollowCommand(program),
  mcp: async (program) => (await import('./commands/mcp-bridge-command.ts')).addMcpCommand(program),
  api: async (program) => (await import('./commands/api-request-command.ts')).addApiRequestCommand(program),
  account: async (program) =>
    (await import('./commands/account-and-ledger-commands.ts')).addAccountCommands(program, await runner(program)),
  credits: async (program) =>
    (await import('./commands/account-and-ledger-commands.ts')).addCreditsCommands(program, await runner(program)),
  key: async (program) =>
    (await import('./commands/key-and-secret-commands.ts')).addKeyCommands(program, await runner(program)),
  operator: async (program) =>
    (await import('./commands/key-and-secret-commands.ts')).addOperatorKeyCommands(program, await runner(program)),
  user: async (program) =>
    (await import('./commands/user-link-and-erase-commands.ts')).addUserCommands(program, await runner(program)),
  'top-up': async (program) =>
    (await import('./commands/top-up-reconcile-command.ts')).addTopUpReconcileCommand(program, await runner(program)),
  'callback-secret': async (program) =>
    (await import('./commands/key-and-secret-commands.ts')).addCallbackSecretCommands(program, await runner(program)),
  secret: async (program) =>
    (await import('./commands/key-and-secret-commands.ts')).addReencryptSecretsCommand(program, await runner(program)),
  audit: async (program) =>
    (await import('./commands/account-and-ledger-commands.ts')).addLedgerAuditCommand(program, await runner(program)),
  reconcile: async (program) =>
    (await import('./commands/reconcile-command.ts')).addReconcileCommand(program, await runner(program)),
  provider: async (program) =>
    (await import('./provider/provider-commands.ts')).addProviderCommands(program, await runner(program)),
  catalogue: async (program) => (await import('./commands/catalogue-command.ts')).addCatalogueCommands(program),
  media: async (program) =>
    (await import('./commands/result-store-commands.ts')).addResultStoreCommands(program, await runner(program)),
  migrate: async (program) => (await import('./commands/migrate-command.ts')).addMigrateCommand(program),
  doctor: async (program) => (await import('./commands/doctor-command.ts')).addDoctorCommand(program),
};

async function runner(program: Command) {
  return (await import('./database-and-temporal-for-commands.ts')).createDatabaseRunner(program);
}
