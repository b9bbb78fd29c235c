import { useState } from 'preact/hooks';
import type { UsedApiKey } from '../../api/contract.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { OperatorViewAwareButton } from '../../ui/forms/operator-view-aware-button.tsx';
import { SelectField } from '../../ui/forms/form-fields.tsx';
import { SecretShownOnceDialog } from '../../ui/forms/secret-shown-once-dialog.tsx';
import { type OptionalAccountProps, keyStateOf } from './key-state.ts';
import { keysText } from './keys-text.ts';
import { FirstRequestSample } from './first-request-with-key.tsx';

type ActionsProps = OptionalAccountProps & { readonly apiKey: UsedApiKey };

/** Owners rotate and revoke a key; operators only revoke it. */
export function KeyActions({ apiKey, account }: ActionsProps) {
  const [open, setOpen] = useState<'rotate' | 'revoke'>();
  const onClose = () => setOpen(undefined);
  // A key that was rotated without an overlap expires immediately; the dialog with its successor stays.
  if (keyStateOf(apiKey) !== 'active' && open === undefined) return null;
  const { name } = apiKey;
  return (
    <span class="row end">
      {account === undefined && (
        <OperatorViewAwareButton size="small" onClick={() => setOpen('rotate')} aria-label={keysText.rotateKey(name)}>
          {keysText.rotate}
        </OperatorViewAwareButton>
      )}
      <OperatorViewAwareButton
        size="small"
        variant="danger"
        onClick={() => setOpen('revoke')}
        aria-label={keysText.revokeKey(name)}
      >
        {keysText.revoke}
      </OperatorViewAwareButton>
      {open === 'rotate' && <RotateDialog apiKey={apiKey} onClose={onClose} />}
      {open === 'revoke' && <RevokeDialog apiKey={apiKey} account={account} onClose={onClose} />}
    </span>
  );
}

type DialogProps = ActionsProps & { readonly onClose: () => void };

function RevokeDialog({ apiKey: { keyId, name, hint }, account, onClose }: DialogProps) {
  return (
    <ActionDialog
      path={account === undefined ? '/api/v1/keys/revoke' : '/api/admin/v1/keys/revoke'}
      title={keysText.revokeTitle(name)}
      action={keysText.revokeAction}
      isDanger
      body={() => ({ keyId })}
      done={keysText.revoked(name)}
      onClose={onClose}
    >
      <p>{keysText.revokeText(hint)}</p>
      {account === undefined && <p>{keysText.revokeAdvice}</p>}
    </ActionDialog>
  );
}

const overlaps = (['86400', '3600', '604800', '0'] as const).map((value) => ({
  value,
  label: keysText.overlaps[value],
}));

function RotateDialog({ apiKey: { keyId, name, hint }, onClose }: DialogProps) {
  const [overlap, setOverlap] = useState<(typeof overlaps)[number]['value']>('86400');
  return (
    <ActionDialog
      path="/api/v1/keys/rotate"
      title={keysText.rotateKey(name)}
      action={keysText.rotateAction}
      body={() => ({ keyId, overlapSeconds: Number(overlap) })}
      changes={['/api/v1/keys']}
      result={(made) => <NewKeySecretDialog name={made.name} secret={made.key} onClose={onClose} />}
      onClose={onClose}
    >
      <p>{keysText.rotateText(hint)}</p>
      <SelectField label={keysText.overlap} value={overlap} options={overlaps} onValue={setOverlap} />
    </ActionDialog>
  );
}

type NewKeyProps = OptionalAccountProps & {
  readonly name: string;
  readonly secret: string;
  readonly onClose: () => void;
};

/** A new key with its secret. Owners can try it in a terminal. */
export function NewKeySecretDialog({ name, secret, account, onClose }: NewKeyProps) {
  return (
    <SecretShownOnceDialog
      title={keysText.newKey(name)}
      what={keysText.noun[0]}
      text={secret}
      details={account === undefined ? <FirstRequestSample secret={secret} /> : undefined}
      onClose={onClose}
    >
      {keysText.secretAdvice}
    </SecretShownOnceDialog>
  );
}
