import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Dialect, dialects, ordinaryScopes, type Scope, scopes } from '../domain/api-key.ts';
import { type ApiKey, createApiKey, listApiKeys, revokeKeyAs } from '../stores/keys.ts';
import { recordAction } from '../stores/operator-actions.ts';
import { futureInstant, id, maxNameLength, textUpTo } from './arguments.ts';
import { CommandError, listed } from './output.ts';
import { commandLineActor, noAccount, type RunOnDatabase } from './run-command.ts';

type KeyOptions = { account: string; name: string; scopes: Scope[]; dialect: Dialect; expires?: number };

export function addKeyCommands(program: Command, run: RunOnDatabase): void {
  const key = program.command('key').description('make, list and revoke API keys');
  key
    .command('create')
    .description('make a key; it is shown once and kept only as a hash')
    .requiredOption('--account <account>', 'account id', id)
    .option('--name <name>', 'what the key is for', textUpTo(maxNameLength), 'default')
    .option('--scopes <list>', `some of ${scopes.join(',')}`, scopeList, [...ordinaryScopes])
    .option('--expires <when>', 'an instant to come, or a span such as 90d', futureInstant)
    .addOption(new Option('--dialect <dialect>', 'how its clients speak').choices(dialects).default('native'))
    .action(
      run(async ({ db }, options: KeyOptions) => {
        const { account: accountId, expires: expiresAt, ...rest } = options;
        const created = await recordAction(db, commandLineActor(), async (transaction) => {
          const answer = await createApiKey(transaction, { accountId, expiresAt, ...rest });
          if (answer === undefined) return { answer };
          const { keyId } = answer;
          return { answer, done: { action: 'keys.create', accountId, keyId, details: { ...rest, expiresAt } } };
        });
        if (created === undefined) throw noAccount(accountId);
        return { json: created, lines: [created.key, 'Keep it: it is not shown again.'] };
      }),
    );
  key
    .command('list')
    .description("an account's keys, without their secrets")
    .requiredOption('--account <account>', 'account id', id)
    .action(
      run(async ({ db }, { account }: { account: string }) => {
        return listed('keys', await listApiKeys(db, account), keyLine);
      }),
    );
  key
    .command('revoke')
    .description('revoke a key from its next request on')
    .argument('<key>', 'key id', id)
    .action(
      run(async ({ db }, keyId: string) => {
        const revokedAt = await revokeKeyAs(db, commandLineActor(), keyId);
        if (revokedAt === undefined) throw new CommandError(`no such key: ${keyId}`);
        return { json: { keyId, revoked: true }, lines: [`Key ${keyId} is revoked.`] };
      }),
    );
}

function scopeList(text: string): Scope[] {
  return text.split(',').map((name) => {
    const scope = scopes.find((known) => known === name.trim());
    if (scope === undefined) throw new InvalidArgumentError(`Scopes are ${scopes.join(', ')}.`);
    return scope;
  });
}

function keyLine({ keyId, hint, name, scopes: granted, dialect: spoken, revokedAt, expiresAt }: ApiKey): string {
  const state =
    revokedAt !== undefined ? 'revoked' : expiresAt !== undefined && expiresAt < Date.now() ? 'expired' : 'active';
  return [keyId, hint, state, granted.join(','), spoken, name].join('  ');
}
