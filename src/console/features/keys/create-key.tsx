import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ordinaryScopes, type Scope, scopes } from '../../../accounts/keys/scopes-dialects-and-caller.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { DialogButton } from '../../ui/forms/dialog.tsx';
import { CheckField, CheckList, SelectField, TextField } from '../../ui/forms/form-fields.tsx';
import { Fold } from '../../ui/controls/fold.tsx';
import { useClaimedFieldError, useFields } from '../../ui/forms/form.tsx';
import { Plus } from '../../ui/controls/icons.ts';
import { dayMs } from '../../ui/times-and-durations.tsx';
import { CapFields, parseCapFields, emptyCapFieldValues } from '../credits/spend-cap-fields.tsx';
import { NewKeySecretDialog } from './rotate-and-revoke-key.tsx';
import type { OptionalAccountProps } from './key-state.ts';
import { keysText, scopeText } from './keys-text.ts';

/** Creates a key: for the own account, or as an operator for any. */
export function CreateKeyButton({ account, isSmall = false }: OptionalAccountProps & { readonly isSmall?: boolean }) {
  return (
    <DialogButton
      label={keysText.create}
      icon={Plus}
      {...(isSmall ? { size: 'small' as const } : { variant: 'primary' as const })}
    >
      {(close) => <CreateKeyDialog account={account} onClose={close} />}
    </DialogButton>
  );
}

const expiries = (['', '30', '90', '365'] as const).map((value) => ({ value, label: keysText.expiries[value] }));

function CreateKeyDialog({ account, onClose }: OptionalAccountProps & { readonly onClose: () => void }) {
  const { values, field } = useFields({ name: '', ...emptyCapFieldValues });
  const [expiry, setExpiry] = useState<(typeof expiries)[number]['value']>('');
  const [granted, setGranted] = useState<readonly Scope[]>(ordinaryScopes);
  const [models, setModels] = useState<readonly string[]>([]);
  const [isKie, setKie] = useState(false);
  const caps = parseCapFields(values);
  const key = () => ({
    name: values.name.trim(),
    scopes: [...granted],
    ...(isKie && { dialect: 'kie' as const }),
    ...(models.length > 0 && { models: [...models] }),
    ...(Object.values(caps).some((cap) => cap !== null) && { caps }),
    ...(expiry !== '' && { expireTime: Date.now() + Number(expiry) * dayMs }),
  });
  return (
    <ActionDialog
      path={account === undefined ? '/api/v1/keys' : '/api/admin/v1/keys'}
      title={account === undefined ? keysText.createTitle : keysText.createFor(account.name)}
      action={keysText.create}
      disabledReason={granted.length === 0 ? keysText.noPermission : undefined}
      body={() => (account === undefined ? key() : { accountId: account.accountId, ...key() })}
      result={(made) => <NewKeySecretDialog name={made.name} secret={made.key} account={account} onClose={onClose} />}
      onClose={onClose}
    >
      <TextField
        label={keysText.name}
        placeholder={keysText.namePlaceholder}
        hint={keysText.nameHint}
        autocomplete="off"
        required
        maxLength={200}
        {...field('name')}
      />
      <CheckList
        label={keysText.permissions}
        options={scopes}
        chosen={granted}
        wordsOf={(scope) => scopeText[scope]}
        onChosen={setGranted}
      />
      <SelectField label={keysText.expires} value={expiry} options={expiries} onValue={setExpiry} />
      <ModelChecks chosen={models} isOwn={account === undefined} onChosen={setModels} />
      <LimitsFold>
        <p class="under">{keysText.limitsHint}</p>
        <CapFields field={field} path="caps." />
      </LimitsFold>
      <CheckField label={keysText.kie} hint={keysText.kieHint} isChecked={isKie} onValue={setKie} />
    </ActionDialog>
  );
}

/** An invalid limit opens it, because a browser neither focuses a folded field nor shows its error. */
function LimitsFold({ children }: { readonly children: ComponentChildren }) {
  const errors = [
    useClaimedFieldError('caps.day'),
    useClaimedFieldError('caps.month'),
    useClaimedFieldError('caps.total'),
  ];
  return (
    <div onInvalidCapture={openFold}>
      <Fold title={keysText.limits} isGiven={errors.some((error) => error !== undefined)} problem={null}>
        {children}
      </Fold>
    </div>
  );
}

function openFold({ currentTarget }: JSX.TargetedEvent<HTMLElement>): void {
  const fold = currentTarget.querySelector('details');
  if (fold !== null) fold.open = true;
}

type ModelProps = {
  readonly isOwn: boolean;
  readonly chosen: readonly string[];
  readonly onChosen: (models: readonly string[]) => void;
};

function ModelChecks({ isOwn, chosen, onChosen }: ModelProps) {
  const own = useRead('/api/v1/models', {}, { isEnabled: isOwn });
  const all = useRead('/api/admin/v1/prices', { limit: 1 }, { isEnabled: !isOwn });
  const models = (own.data ?? all.data)?.models ?? [];
  if (models.length < 2) return null;
  return (
    <Fold title={keysText.models} isGiven={false} problem={null}>
      <p class="under">{keysText.modelsHint}</p>
      <CheckList
        label={keysText.models}
        options={models.map(({ model }) => model)}
        chosen={chosen}
        onChosen={onChosen}
      />
    </Fold>
  );
}
