import type { Command } from 'commander';
import { resealSecrets } from '../main/account-secrets.ts';
import { secretBox } from './keys.ts';
import type { Answer } from './output.ts';
import type { Context, RunOnDatabase } from './run-command.ts';

export function addSecretCommands(program: Command, run: RunOnDatabase): void {
  program
    .command('secret')
    .description('VIDEOGEN_SECRET and what it protects')
    .command('reencrypt')
    .description(
      'encrypt what is stored with VIDEOGEN_SECRET; safe to repeat, while the service runs; exit 1 when some cannot be read',
    )
    .action(run(reencrypt));
}

async function reencrypt({ db, config }: Context): Promise<Answer> {
  const { current, moved, unopened } = await resealSecrets(db, await secretBox(config));
  const accounts = [...new Set(unopened)];
  const done = `${moved} callback secrets encrypted anew, ${current} were already.`;
  const json = { moved, current, unopened: accounts };
  if (accounts.length === 0) return { json, lines: [done, 'Nothing stored needs VIDEOGEN_SECRET_PREVIOUS any more.'] };
  process.exitCode = 1;
  const cannot = 'Neither VIDEOGEN_SECRET nor VIDEOGEN_SECRET_PREVIOUS opens those of these accounts:';
  return { json, lines: [done, cannot, ...accounts] };
}
