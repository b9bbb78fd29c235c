import type { Command } from 'commander';
import { listSignUps, type OpenSignUp, renewSignUpAs } from '../people/sign-up.ts';
import { addCommand } from './add-command.ts';
import { id } from './arguments.ts';
import { type Answer, isoTime, listed, notFound } from './output.ts';
import { commandLineActor, type Context, type RunOnDatabase } from './run-command.ts';
import { linkAnswer } from './user.ts';

const maxListed = 200;

export function addSignUpCommands(program: Command, run: RunOnDatabase): void {
  const signUp = addCommand(program, 'sign-up').description('deliver links to people who signed up');
  addCommand(signUp, 'list', '', '--json')
    .description('list people whose link was not used yet, newest first, with the state of the mail to them')
    .action(run(async ({ db }) => listed('signUps', await listSignUps(db, maxListed), signUpColumns)));
  addCommand(signUp, 'link', '019abcbc-def0-7def-8901-234567890abc')
    .description('create a new link, which is shown once; send it to the e-mail address of the person')
    .argument('<sign-up>', 'id, from sign-up list', id)
    .action(run(createLink));
}

const signUpColumns = {
  header: ['SIGN-UP', 'EMAIL', 'FROM', 'CREATED', 'MAIL'],
  cells: ({ linkId, email, address, mail, createdAt }: OpenSignUp) => [
    linkId,
    email,
    address,
    isoTime(createdAt),
    mail ?? 'none',
  ],
};

async function createLink({ db, config }: Context, linkId: string): Promise<Answer> {
  const link = await renewSignUpAs(db, commandLineActor(), linkId);
  if (link === undefined) throw notFound('open sign-up', linkId);
  return linkAnswer(config, link);
}
