import { useState } from 'preact/hooks';
import type { Provider } from '../../api/contract.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { DialogButton } from '../../ui/forms/dialog.tsx';
import { Segmented } from '../../ui/forms/form-fields.tsx';
import { auditReasonHint } from '../audit/audit-reason-hint.ts';
import { providersText, providerStateNames, describeProviderState } from './providers-text.ts';

const states = providerStateNames.map((value) => ({ value, label: describeProviderState(value).word }));

type Props = { readonly provider: Provider };

export function SetProviderStateButton({ provider }: Props) {
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
      action={describeProviderState(state).action}
      isDanger={state === 'off'}
      reason={auditReasonHint}
      body={(reason) => ({ provider: name, state, reason })}
      done={(changed) => providersText.switched(changed.provider, describeProviderState(changed.state).word)}
      onClose={onClose}
    >
      <p class="soft">{providersText.switchHelp(describeProviderState(before).word, running)}</p>
      <Segmented
        label={providersText.state}
        name="state"
        hint={describeProviderState(state).help}
        value={state}
        options={states}
        onValue={setState}
      />
    </ActionDialog>
  );
}
