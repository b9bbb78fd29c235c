import { useState } from 'preact/hooks';
import type { Provider } from '../../api/contract.ts';
import { Segmented } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { auditHint, ChangeDialog } from './change-dialog.tsx';
import { switchWords } from './provider-words.ts';

const states = (['enabled', 'draining', 'off'] as const).map((value) => ({ value, label: switchWords[value].word }));

export function SwitchDialog({ provider, onClose }: { readonly provider: Provider; readonly onClose: () => void }) {
  const { provider: name, state: before, pools } = provider;
  const [state, setState] = useState(before);
  const running = pools.reduce((sum, { occupying }) => sum + occupying, 0);
  return (
    <ChangeDialog
      path="/api/admin/v1/providers/set"
      title={`Switch ${name}`}
      action={state === 'enabled' ? 'Enable it' : state === 'draining' ? 'Let it drain' : 'Switch it off'}
      isDanger={state === 'off'}
      says={`It is ${switchWords[before].word.toLowerCase()} and runs ${running} ${running === 1 ? 'job' : 'jobs'}.`}
      fields={['state']}
      reasonHint={auditHint}
      body={(reason) => ({ provider: name, state, reason })}
      onClose={onClose}
      onDone={(changed) => toast(`${changed.provider} is ${switchWords[changed.state].word.toLowerCase()} now`)}
    >
      {(faults) => (
        <Segmented
          label="State"
          hint={switchWords[state].says}
          value={state}
          options={states}
          onValue={setState}
          fault={faults['state']}
        />
      )}
    </ChangeDialog>
  );
}
