import { Plus } from '../../ui/icons.ts';
import { useState } from 'preact/hooks';
import type { Account } from '../../api/contract.ts';
import { Button } from '../../ui/button.tsx';
import { Segmented, TextField } from '../../ui/field.tsx';
import { ChangeDialog } from './change-dialog.tsx';
import { ShownOnce } from './shown-once.tsx';

const dialects = [
  { value: 'native', label: 'Videogen' },
  { value: 'kie', label: 'kie.ai' },
] as const;

type Dialect = (typeof dialects)[number]['value'];

export function NewKeyButton({ account: { accountId, name: accountName } }: { readonly account: Account }) {
  const [isAsked, setAsked] = useState(false);
  const [name, setName] = useState('');
  const [dialect, setDialect] = useState<Dialect>('native');
  // Held here only, and gone with the dialog.
  const [secret, setSecret] = useState<string>();
  return (
    <>
      <Button size="small" onClick={() => setAsked(true)}>
        <Plus size={14} aria-hidden="true" /> New key
      </Button>
      {isAsked && (
        <ChangeDialog
          path="/api/admin/v1/keys"
          title={`New key for ${accountName}`}
          action="Create the key"
          says="It creates tasks and reads everything of the account, but makes no other keys."
          fields={['name']}
          body={() => ({ accountId, name, dialect })}
          onClose={() => setAsked(false)}
          onDone={({ key }) => {
            setSecret(key);
            setName('');
          }}
        >
          {(faults) => (
            <>
              <TextField
                label="Name"
                hint="Where it is used, such as “production”."
                autocomplete="off"
                maxLength={100}
                value={name}
                onValue={setName}
                fault={faults['name']}
              />
              <Segmented
                label="Dialect"
                hint="Which API the client speaks. It never changes."
                value={dialect}
                options={dialects}
                onValue={setDialect}
              />
            </>
          )}
        </ChangeDialog>
      )}
      {secret !== undefined && (
        <ShownOnce title="The new key" what="key" text={secret} onClose={() => setSecret(undefined)} />
      )}
    </>
  );
}
