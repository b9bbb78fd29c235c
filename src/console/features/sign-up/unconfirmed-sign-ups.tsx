import type { SignUp } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { labelOrName } from '../../ui/controls/words-and-tones.ts';
import { DialogButton } from '../../ui/forms/dialog.tsx';
import { SecretShownOnceDialog } from '../../ui/forms/secret-shown-once-dialog.tsx';
import { TableCard } from '../../ui/lists/table-card.tsx';
import { Time } from '../../ui/times-and-durations.tsx';
import { actionColumnProps } from '../../ui/lists/table.tsx';
import { peopleText } from '../people/people-text.ts';
import { signUpText as text } from './sign-up-text.ts';

/** For operators: people who signed up and have not used their link, if there are any. */
export function UnconfirmedSignUps() {
  const { data } = useRead('/api/admin/v1/sign-ups', {});
  if (data === undefined || data.signUps.length === 0) return null;
  return (
    <TableCard
      title={text.open}
      rows={data.signUps}
      rowKey={({ linkId }) => linkId}
      columns={[
        { title: text.email, kind: 'head', cell: ({ email }) => <bdi>{email}</bdi> },
        { title: text.requested, cell: ({ createTime }) => <Time ms={createTime} /> },
        { title: text.mail, cell: ({ mail }) => (mail === null ? text.noMail : labelOrName(text.mailStates, mail)) },
        { ...actionColumnProps, cell: (signUp) => <CreateLink signUp={signUp} /> },
      ]}
    />
  );
}

function CreateLink({ signUp: { linkId, email } }: { readonly signUp: SignUp }) {
  return (
    <DialogButton size="small" label={text.createLink} aria-label={text.createLinkFor(email)}>
      {(close) => (
        <ActionDialog
          path="/api/admin/v1/sign-ups/link"
          title={text.createLinkTitle(email)}
          action={text.createLink}
          body={() => ({ linkId })}
          result={({ url }) => (
            <SecretShownOnceDialog title={text.link(email)} what={peopleText.linkNoun} text={url} onClose={close}>
              {text.linkAdvice}
            </SecretShownOnceDialog>
          )}
          help={text.createLinkHelp}
          onClose={close}
        />
      )}
    </DialogButton>
  );
}
