import type { Command } from 'commander';

type AddCommand = (program: Command) => Promise<void>;

/** All commands, in the order of the help. Only the requested command's module is loaded, because a start must not wait for others. */
export const commands: Readonly<Record<string, AddCommand>> = {
  start: async (program) => (await import('./start.ts')).addStartCommand(program),
  worker: async (program) => (await import('./worker.ts')).addWorkerCommand(program),
  demo: async (program) => (await import('./demo.ts')).addDemoCommand(program),
  generate: async (program) => (await import('./generate.ts')).addGenerateCommand(program),
  follow: async (program) => (await import('./generate.ts')).addFollowCommand(program),
  mcp: async (program) => (await import('./mcp.ts')).addMcpCommand(program),
  api: async (program) => (await import('./api.ts')).addApiCommand(program),
  account: async (program) => (await import('./accounts.ts')).addAccountCommands(program, await runner(program)),
  credits: async (program) => (await import('./accounts.ts')).addCreditsCommands(program, await runner(program)),
  key: async (program) => (await import('./keys.ts')).addKeyCommands(program, await runner(program)),
  operator: async (program) => (await import('./keys.ts')).addOperatorCommands(program, await runner(program)),
  user: async (program) => (await import('./user.ts')).addUserCommands(program, await runner(program)),
  'top-up': async (program) => (await import('./top-ups.ts')).addTopUpCommands(program, await runner(program)),
  'callback-secret': async (program) =>
    (await import('./keys.ts')).addCallbackSecretCommands(program, await runner(program)),
  secret: async (program) => (await import('./keys.ts')).addSecretCommands(program, await runner(program)),
  audit: async (program) => (await import('./accounts.ts')).addAuditCommand(program, await runner(program)),
  reconcile: async (program) => (await import('./reconcile.ts')).addReconcileCommand(program, await runner(program)),
  provider: async (program) => (await import('./provider.ts')).addProviderCommands(program, await runner(program)),
  catalogue: async (program) => (await import('./catalogue.ts')).addCatalogueCommands(program),
  media: async (program) => (await import('./media.ts')).addMediaCommands(program, await runner(program)),
  migrate: async (program) => (await import('./migrate.ts')).addMigrateCommand(program),
  doctor: async (program) => (await import('./doctor.ts')).addDoctorCommand(program),
};

async function runner(program: Command) {
  return (await import('./run-command.ts')).createRunner(program);
}
