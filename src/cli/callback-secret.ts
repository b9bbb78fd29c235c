import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { defaultOverlapSeconds, maxOverlapSeconds } from '../domain/callback.ts';
import { persistedSecret } from '../embedded/data-folder.ts';
import { createSecretBox, type SecretBox } from '../outbound/secrets.ts';
import { callbackSecretsOf, rotateSecret } from '../main/account-secrets.ts';
import { recordAction } from '../stores/operator-actions.ts';
import { id, wholeNumber } from './arguments.ts';
import { commandLineActor, requireAccount, type RunOnDatabase } from './run-command.ts';

export function addCallbackSecretCommands(program: Command, run: RunOnDatabase): void {
  const secret = program.command('callback-secret').description("the secret that signs an account's callbacks");
  secret
    .command('show')
    .argument('<account>', 'account id', id)
    .action(
      run(async ({ db, config }, accountId: string) => {
        await requireAccount(db, accountId);
        const [current = ''] = await callbackSecretsOf(db, await secretBox(config), accountId);
        return { json: { secret: current }, lines: [current] };
      }),
    );
  secret
    .command('rotate')
    .description('make a new secret; the old one signs beside it during the overlap')
    .argument('<account>', 'account id', id)
    .option('--overlap <seconds>', 'how long both sign', wholeNumber(0, maxOverlapSeconds), defaultOverlapSeconds)
    .action(
      run(async ({ db, config }, accountId: string, { overlap }: { overlap: number }) => {
        await requireAccount(db, accountId);
        const box = await secretBox(config);
        const rotated = await recordAction(db, commandLineActor(), async (transaction) => {
          const answer = await rotateSecret(transaction, box, { accountId, overlapSeconds: overlap });
          const details = { overlapSeconds: overlap };
          return { answer, done: { action: 'callback_secret.rotate', accountId, details } };
        });
        return { json: { secret: rotated, overlapSeconds: overlap }, lines: [rotated] };
      }),
    );
}

async function secretBox(config: Config): Promise<SecretBox> {
  return createSecretBox(config.secret ?? (await persistedSecret(config.dataFolder)));
}
