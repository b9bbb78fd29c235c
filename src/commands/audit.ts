import type { Command } from 'commander';
import { auditLedger } from '../stores/ledger-audit.ts';
import type { RunOnDatabase } from './command-runner.ts';

export function addAuditCommand(program: Command, run: RunOnDatabase): void {
  program
    .command('audit')
    .description('prove the books over the whole database; exit 1 when something is wrong')
    .action(
      run(async ({ db }) => {
        const violations = await auditLedger(db);
        if (violations.length > 0) process.exitCode = 1;
        const lines = violations.map(({ rule, accountId, entryId, taskId, detail }) => {
          const where = Object.entries({ account: accountId, entry: entryId, task: taskId });
          const named = where.flatMap(([kind, id]) => (id === undefined ? [] : [`${kind} ${id}`]));
          return [rule, ...named, detail].join('  ');
        });
        return { json: { violations }, lines: violations.length === 0 ? ['The books add up.'] : lines };
      }),
    );
}
