import { useState } from 'preact/hooks';
import { type Role, roles } from '../../../people/role.ts';
import { failureOf } from '../../api/problem.ts';
import { useSend } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog, Dismiss } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { ErrorBox, Notice } from '../../ui/notice.tsx';
import { ExactTime } from '../../ui/time.tsx';
import { roleWords } from '../../words.ts';

/** Makes a link that lets somebody into the account, and shows it for the only time. */
export function InviteDialog({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const invite = useSend('/api/console/v1/members/invite');
  const faults = invite.error?.faults ?? {};
  if (invite.data !== undefined) {
    const { url, expireTime } = invite.data;
    return (
      <Dialog
        title="Invitation made"
        onClose={onClose}
        footer={
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        }
      >
        <Notice tone="warn" title="This link is shown once">
          <p>
            Send it to {email} yourself: whoever opens it joins the account. It works once, until{' '}
            <ExactTime ms={expireTime} />.
          </p>
        </Notice>
        <div class="secret">
          <code>{url}</code>
          <CopyButton text={url} label="Copy the link" isLoud />
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog
      title="Invite somebody"
      isBusy={invite.isPending}
      onClose={onClose}
      onSubmit={() => invite.mutate({ email: email.trim(), role })}
      footer={
        <>
          <Dismiss onClose={onClose} isBusy={invite.isPending} />
          <Button look="primary" type="submit" busy={invite.isPending}>
            Make the link
          </Button>
        </>
      }
    >
      {invite.error !== null && Object.keys(faults).length === 0 && <ErrorBox failure={failureOf(invite.error)} />}
      <TextField
        label="E-mail"
        type="email"
        value={email}
        onValue={setEmail}
        fault={faults['email']}
        hint="No mail is sent: you get a link to pass on."
        required
      />
      <SelectField
        label="Role"
        value={role}
        options={roles.map((value) => ({
          value,
          label: `${roleWords[value].word}: ${roleWords[value].can.toLowerCase()}`,
        }))}
        onValue={setRole}
      />
    </Dialog>
  );
}
