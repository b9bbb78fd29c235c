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
import { SecretShownOnceDialog } from '../../ui/forms/secret-shown-once-dialog.tsx';
import { peopleText } from './people-text.ts';

type Act = {
  readonly path: ActPath;
  readonly icon: Icon;
  readonly label: string;
  readonly title: (email: string) => string;
  /** By default the label. */
  readonly action?: string;
  readonly help: string;
  readonly done: (email: string) => string;
  readonly endsSessions?: boolean;
  /** The e-mail address has to be typed. */
  readonly isForever?: boolean;
};

type ActPath = `/api/admin/v1/people/${'end-sessions' | 'operator' | 'disable' | 'enable' | 'erase'}`;

const path = '/api/admin/v1/people';
const texts = peopleText.acts;
const acts = {
  endSessions: { ...texts.endSessions, path: `${path}/end-sessions`, icon: LogOut, endsSessions: true },
  grantOperator: { ...texts.grantOperator, path: `${path}/operator`, icon: ShieldCheck },
  revokeOperator: { ...texts.revokeOperator, path: `${path}/operator`, icon: ShieldOff, endsSessions: true },
  disable: { ...texts.disable, path: `${path}/disable`, icon: UserX, endsSessions: true },
  enable: { ...texts.enable, path: `${path}/enable`, icon: UserCheck },
  erase: { ...texts.erase, path: `${path}/erase`, icon: Trash2, endsSessions: true, isForever: true },
} as const satisfies Readonly<Record<keyof typeof texts, Act>>;

type ActName = keyof typeof acts;
type ActionsProps = { readonly person: Person; readonly isSelf: boolean };

/** The actions of operators on a person. */
export function PersonAdminMenu({ person, isSelf }: ActionsProps) {
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
        <SecretShownOnceDialog
          title={peopleText.resetLink(email)}
          what={peopleText.linkNoun}
          text={url}
          onClose={onClose}
        >
          {isMailed ? peopleText.mailed : peopleText.resetAdvice}
        </SecretShownOnceDialog>
      )}
      help={peopleText.resetHelp}
      onClose={onClose}
    />
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
      action={act.action ?? act.label}
      isDanger={act.endsSessions}
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
