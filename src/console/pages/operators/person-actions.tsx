import { Ellipsis, KeyRound, LogOut, ShieldCheck, ShieldOff, Trash2, UserCheck, UserX } from 'lucide-preact';
import { useState } from 'preact/hooks';
import type { Person } from '../../api/contract.ts';
import type { NewLink } from './shown-once.tsx';
import { Menu } from '../../ui/menu.tsx';
import { toast } from '../../ui/toast.tsx';
import { ChangeDialog } from './change-dialog.tsx';
import { ShownOnce } from './shown-once.tsx';

type Act = 'reset' | 'end-sessions' | 'disable' | 'enable' | 'operator' | 'erase';

/** What operators do for or to one person. Each is asked about first. */
export function PersonActions({ person, isSelf }: { readonly person: Person; readonly isSelf: boolean }) {
  const [act, setAct] = useState<Act>();
  const [link, setLink] = useState<NewLink>();
  const { email, isOperator, isDisabled } = person;
  const item = (which: Act, Icon: typeof KeyRound, label: string) => (
    <button type="button" onClick={() => setAct(which)}>
      <Icon size={16} aria-hidden="true" /> {label}
    </button>
  );
  return (
    <>
      <Menu label={`Actions for ${email}`} triggerClass="button quiet icon small" trigger={<Ellipsis size={16} />}>
        {item('reset', KeyRound, 'Make a reset link')}
        {item('end-sessions', LogOut, 'Sign out everywhere')}
        {isOperator
          ? item('operator', ShieldOff, 'Take the operator’s right')
          : item('operator', ShieldCheck, 'Make an operator')}
        {isDisabled ? item('enable', UserCheck, 'Enable') : item('disable', UserX, 'Disable')}
        {item('erase', Trash2, 'Erase')}
      </Menu>
      {act !== undefined && (
        <ActDialog act={act} person={person} isSelf={isSelf} onLink={setLink} onClose={() => setAct(undefined)} />
      )}
      {link !== undefined && (
        <ShownOnce title={`Reset link for ${email}`} what="link" text={link.url} onClose={() => setLink(undefined)} />
      )}
    </>
  );
}

type ActProps = {
  readonly act: Act;
  readonly person: Person;
  readonly isSelf: boolean;
  readonly onLink: (link: NewLink) => void;
  readonly onClose: () => void;
};

function ActDialog({ act, person, isSelf, onLink, onClose }: ActProps) {
  const { userId, email, isOperator } = person;
  const shared = { body: () => ({ userId }), onClose } as const;
  const own = isSelf ? ' This is you: your sessions end, too.' : '';
  switch (act) {
    case 'reset':
      return (
        <ChangeDialog
          {...shared}
          path="/api/admin/v1/people/reset"
          title={`Reset link for ${email}?`}
          action="Make the link"
          says="You get a link to hand over; no e-mail is sent. Whoever has it chooses a new password for this person. Links before it work no more."
          onDone={onLink}
        />
      );
    case 'end-sessions':
      return (
        <ChangeDialog
          {...shared}
          path="/api/admin/v1/people/end-sessions"
          title={`Sign ${email} out everywhere?`}
          action="End the sessions"
          isDanger
          says={`All their browsers must sign in again.${own}`}
          onDone={() => toast(`${email} is signed out everywhere`)}
        />
      );
    case 'disable':
      return (
        <ChangeDialog
          {...shared}
          path="/api/admin/v1/people/disable"
          title={`Disable ${email}?`}
          action="Disable the person"
          isDanger
          says={`From the next request on they cannot sign in. API keys go on working; they belong to accounts.${own}`}
          onDone={() => toast(`${email} is disabled`)}
        />
      );
    case 'enable':
      return (
        <ChangeDialog
          {...shared}
          path="/api/admin/v1/people/enable"
          title={`Enable ${email}?`}
          action="Enable the person"
          says="They can sign in again with the password and the roles they had."
          onDone={() => toast(`${email} can sign in again`)}
        />
      );
    case 'operator':
      return (
        <ChangeDialog
          {...shared}
          path="/api/admin/v1/people/operator"
          body={() => ({ userId, isOperator: !isOperator })}
          title={isOperator ? `Take the operator’s right from ${email}?` : `Make ${email} an operator?`}
          action={isOperator ? 'Take the right' : 'Make an operator'}
          isDanger={isOperator}
          says={
            isOperator
              ? `They lose these pages and keep their accounts. Their sessions end.${own}`
              : 'They see every account, move credits, and change prices and providers. Their sessions end, and they sign in again.'
          }
          onDone={() => toast(isOperator ? `${email} is no operator any more` : `${email} is an operator now`)}
        />
      );
    case 'erase':
      return (
        <ChangeDialog
          {...shared}
          path="/api/admin/v1/people/erase"
          title={`Erase ${email}?`}
          action="Erase the person"
          isDanger
          says={`Deletes the person, their sign-ins and their memberships. The audit log keeps what they did as “erased user”. This cannot be undone.${own}`}
          onDone={() => toast('The person is erased')}
        />
      );
    default:
      return act satisfies never;
  }
}
