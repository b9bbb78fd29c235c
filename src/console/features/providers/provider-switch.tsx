import { useState } from 'preact/hooks';
import type { Provider } from '../../api/contract.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { DialogButton } from '../../ui/forms/dialog.tsx';
import { Segmented } from '../../ui/forms/field.tsx';
import { auditHint } from '../audit/audit-hint.ts';
import { providersText, switchStates, switchWord } from './providers-text.ts';

const states = switchStates.map((value) => ({ value, label: switchWord(value).word }));

type Props = { readonly provider: Provider };

export function SwitchProviderButton({ provider }: Props) {
  return (
    <DialogButton
      label={providersText.switchAction}
      aria-label={providersText.switchTitle(provider.provider)}
      size="small"
    >
      {(close) => <SwitchDialog provider={provider} onClose={close} />}
    </DialogButton>
  );
}

function SwitchDialog({ provider, onClose }: Props & { readonly onClose: () => void }) {
  const { provider: name, state: before, pools } = provider;
  const [state, setState] = useState(before);
  const running = pools.reduce((sum, { occupying }) => sum + occupying, 0);
  return (
    <ActionDialog
      path="/api/admin/v1/providers/set"
      title={providersText.switchTitle(name)}
      action={switchWord(state).action}
      isDanger={state === 'off'}
      reason={auditHint}
      body={(reason) => ({ provider: name, state, reason })}
      done={(changed) => providersText.switched(changed.provider, switchWord(changed.state).word)}
      onClose={onClose}
    >
      <p class="soft">{providersText.switchHelp(switchWord(before).word, running)}</p>
      <Segmented
        label={providersText.state}
        name="state"
        hint={switchWord(state).help}
        value={state}
        options={states}
        onValue={setState}
      />
    </ActionDialog>
  );
}
