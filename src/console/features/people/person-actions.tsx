import { useState } from 'preact/hooks';
import type { Person } from '../../api/contract.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import type { Icon } from '../../ui/controls/icon.ts';
import {
  Ellipsis,
  KeyRound,
  LogOut,
  ShieldCheck,
  ShieldOff,
  Trash2,
  UserCheck,
  UserX,
} from '../../ui/controls/icons.ts';
import { Menu } from '../../ui/controls/menu.tsx';
import { ShownOnce } from '../../ui/forms/shown-once.tsx';
import { peopleText } from './people-text.ts';

type Act = {
  readonly path: ActPath;
  readonly icon: Icon;
  readonly label: string;
  readonly title: (email: string) => string;
  readonly action: string;
  readonly help: string;
  readonly done: (email: string) => string;
  readonly isDanger?: boolean;
  /** It ends the person's sessions. */
  readonly endsSessions?: boolean;
  /** The e-mail address has to be typed. */
  readonly isForever?: boolean;
};

type ActPath =
  | '/api/admin/v1/people/end-sessions'
  | '/api/admin/v1/people/disable'
  | '/api/admin/v1/people/enable'
  | '/api/admin/v1/people/operator'
  | '/api/admin/v1/people/erase';

const acts = {
  endSessions: {
    path: '/api/admin/v1/people/end-sessions',
    icon: LogOut,
    label: peopleText.endSessions,
    title: peopleText.endSessionsTitle,
    action: peopleText.endSessions,
    help: peopleText.endSessionsHelp,
    done: peopleText.endSessionsDone,
    isDanger: true,
    endsSessions: true,
  },
  grantOperator: {
    path: '/api/admin/v1/people/operator',
    icon: ShieldCheck,
    label: peopleText.grantOperator,
    title: peopleText.grantOperatorTitle,
    action: peopleText.grantOperator,
    help: peopleText.grantOperatorHelp,
    done: peopleText.grantOperatorDone,
  },
  revokeOperator: {
    path: '/api/admin/v1/people/operator',
    icon: ShieldOff,
    label: peopleText.revokeOperator,
    title: peopleText.revokeOperatorTitle,
    action: peopleText.revokeOperator,
    help: peopleText.revokeOperatorHelp,
    done: peopleText.revokeOperatorDone,
    isDanger: true,
    endsSessions: true,
  },
  disable: {
    path: '/api/admin/v1/people/disable',
    icon: UserX,
    label: peopleText.disable,
    title: peopleText.disableTitle,
    action: peopleText.disableAction,
    help: peopleText.disableHelp,
    done: peopleText.disableDone,
    isDanger: true,
    endsSessions: true,
  },
  enable: {
    path: '/api/admin/v1/people/enable',
    icon: UserCheck,
    label: peopleText.enable,
    title: peopleText.enableTitle,
    action: peopleText.enableAction,
    help: peopleText.enableHelp,
    done: peopleText.enableDone,
  },
  erase: {
    path: '/api/admin/v1/people/erase',
    icon: Trash2,
    label: peopleText.erase,
    title: peopleText.eraseTitle,
    action: peopleText.eraseAction,
    help: peopleText.eraseHelp,
    done: () => peopleText.eraseDone,
    isDanger: true,
    endsSessions: true,
    isForever: true,
  },
} as const satisfies Readonly<Record<string, Act>>;

type ActName = keyof typeof acts;
type ActionsProps = { readonly person: Person; readonly isSelf: boolean };

/** The actions of operators on a person. */
export function PersonActions({ person, isSelf }: ActionsProps) {
  const [open, setOpen] = useState<ActName | 'reset'>();
  const onClose = () => setOpen(undefined);
  const { email, isDisabled, operator } = person;
  const names: readonly ActName[] = [
    'endSessions',
    operator.isOperator ? 'revokeOperator' : 'grantOperator',
    isDisabled ? 'enable' : 'disable',
    'erase',
  ];
  return (
    <>
      <Menu
        label={peopleText.actionsFor(email)}
        triggerClass="button quiet icon small"
        trigger={<Ellipsis size={16} />}
      >
        <button type="button" onClick={() => setOpen('reset')}>
          <KeyRound size={16} aria-hidden="true" /> {peopleText.reset}
        </button>
        {names.map((name) => {
          const { icon: ActIcon, label } = acts[name];
          return (
            <button key={name} type="button" onClick={() => setOpen(name)}>
              <ActIcon size={16} aria-hidden="true" /> {label}
            </button>
          );
        })}
      </Menu>
      {open === 'reset' && <ResetDialog person={person} onClose={onClose} />}
      {open !== undefined && open !== 'reset' && (
        <ActDialog name={open} person={person} isSelf={isSelf} onClose={onClose} />
      )}
    </>
  );
}

type DialogProps = { readonly person: Person; readonly onClose: () => void };

function ResetDialog({ person: { userId, email }, onClose }: DialogProps) {
  return (
    <ActionDialog
      path="/api/admin/v1/people/reset"
      title={peopleText.resetTitle(email)}
      action={peopleText.createLink}
      body={() => ({ userId })}
      result={({ url, isMailed }) => (
        <ShownOnce title={peopleText.resetLink(email)} what={peopleText.linkNoun} text={url} onClose={onClose}>
          {isMailed ? peopleText.mailed : peopleText.resetAdvice}
        </ShownOnce>
      )}
      onClose={onClose}
    >
      <p class="soft">{peopleText.resetHelp}</p>
    </ActionDialog>
  );
}

type ActProps = DialogProps & { readonly name: ActName; readonly isSelf: boolean };

function ActDialog({ name, person: { userId, email }, isSelf, onClose }: ActProps) {
  const act: Act = acts[name];
  const isOperator = name === 'grantOperator';
  return (
    <ActionDialog
      path={act.path}
      title={act.title(email)}
      action={act.action}
      isDanger={act.isDanger}
      confirmText={act.isForever === true ? email : undefined}
      body={() => (act.path.endsWith('/operator') ? { userId, isOperator } : { userId })}
      done={act.done(email)}
      onClose={onClose}
    >
      <p class="soft">{act.help}</p>
      {isSelf && act.endsSessions === true && <p class="soft">{peopleText.self}</p>}
    </ActionDialog>
  );
}
