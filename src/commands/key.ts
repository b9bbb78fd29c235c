import { type Command, InvalidArgumentError } from 'commander';
import { ordinaryScopes, type Scope, scopes } from '../domain/api-key.ts';
import { type ApiKey, createApiKey, listApiKeys, revokeApiKey } from '../stores/api-keys.ts';
import { id, instant } from './arguments.ts';
import type { RunOnDatabase } from './command-runner.ts';
import { CommandError } from './output.ts';

export function addKeyCommands(program: Command, run: RunOnDatabase): void {
  const key = program.command('key').description('make, list and revoke API keys');
  key
    .command('create')
    .description('make a key; it is shown once and kept only as a hash')
    .requiredOption('--account <account>', 'account id', id)
    .option('--name <name>', 'what the key is for', 'default')
    .option('--scopes <list>', `some of ${scopes.join(',')}`, scopeList, [...ordinaryScopes])
    .option('--expires <when>', 'an instant, or a span such as 90d', instant)
    .action(
      run(async ({ db }, options: { account: string; name: string; scopes: Scope[]; expires?: number }) => {
        const { account: accountId, expires: expiresAt, ...rest } = options;
        const created = await createApiKey(db, { accountId, expiresAt, ...rest });
        if (created === undefined) throw new CommandError(`There is no account ${accountId}.`);
        return { json: created, lines: [created.key, 'Keep it: it is not shown again.'] };
      }),
    );
  key
    .command('list')
    .description("an account's keys, without their secrets")
    .requiredOption('--account <account>', 'account id', id)
    .action(
      run(async ({ db }, { account }: { account: string }) => {
        const keys = await listApiKeys(db, account);
        return { json: { keys }, lines: keys.length === 0 ? ['No keys.'] : keys.map(keyLine) };
      }),
    );
  key
    .command('revoke')
    .description('revoke a key from its next request on')
    .argument('<key>', 'key id', id)
    .action(
      run(async ({ db }, keyId: string) => {
        if (!(await revokeApiKey(db, keyId))) throw new CommandError(`There is no key ${keyId}.`);
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

function keyLine({ keyId, hint, name, scopes: granted, revokedAt, expiresAt }: ApiKey): string {
  const state =
    revokedAt !== undefined ? 'revoked' : expiresAt !== undefined && expiresAt < Date.now() ? 'expired' : 'active';
  return [keyId, hint, state, granted.join(','), name].join('  ');
}
