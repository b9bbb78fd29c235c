import type { Command } from 'commander';
import { recordAction } from '../stores/operator-actions.ts';
import { createOperator, listOperators, revokeOperator, type ListedOperator } from '../stores/operators.ts';
import { futureInstant, id, maxNameLength, textUpTo } from './arguments.ts';
import { CommandError, listed } from './output.ts';
import { commandLineActor, type RunOnDatabase } from './run-command.ts';

export function addOperatorCommands(program: Command, run: RunOnDatabase): void {
  const operator = program.command('operator').description('make, list and revoke the keys of operators');
  operator
    .command('create')
    .description("make an operator's key for /api/admin/v1; it is shown once and kept only as a hash")
    .argument('<name>', `whose key it is, 1 to ${maxNameLength} characters`, textUpTo(maxNameLength))
    .option('--expires <when>', 'an instant to come, or a span such as 90d', futureInstant)
    .action(
      run(async ({ db }, name: string, { expires: expiresAt }: { expires?: number }) => {
        const created = await recordAction(db, commandLineActor(), async (transaction) => {
          const answer = await createOperator(transaction, { name, expiresAt });
          const details = { operatorId: answer.operatorId, name, expiresAt: expiresAt ?? null };
          return { answer, done: { action: 'operators.create', details } };
        });
        return { json: created, lines: [created.key, 'Keep it: it is not shown again.'] };
      }),
    );
  operator
    .command('list')
    .description('operators, without their keys')
    .action(run(async ({ db }) => listed('operators', await listOperators(db), operatorLine)));
  operator
    .command('revoke')
    .description("revoke an operator's key from its next request on")
    .argument('<operator>', 'operator id', id)
    .action(
      run(async ({ db }, operatorId: string) => {
        const revoked = await recordAction(db, commandLineActor(), async (transaction) => {
          const answer = await revokeOperator(transaction, operatorId);
          if (answer?.changed !== true) return { answer };
          return { answer, done: { action: 'operators.revoke', details: { operatorId } } };
        });
        if (revoked === undefined) throw new CommandError(`no such operator: ${operatorId}`);
        return { json: { operatorId, revoked: true }, lines: [`Operator ${operatorId} is revoked.`] };
      }),
    );
}

function operatorLine({ operatorId, hint, name, revokedAt, expiresAt }: ListedOperator): string {
  const isExpired = expiresAt !== undefined && expiresAt < Date.now();
  return [operatorId, hint, revokedAt !== undefined ? 'revoked' : isExpired ? 'expired' : 'active', name].join('  ');
}
