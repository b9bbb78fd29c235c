import { useState } from 'preact/hooks';
import type { ApiKey } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useSend } from '../../api/queries.ts';
import { ordinaryScopes, scopes, type Scope } from '../../../accounts/api-key.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog, Dismiss } from '../../ui/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../ui/field.tsx';
import { ErrorBox, Notice } from '../../ui/notice.tsx';
import { dayMs } from '../../ui/time.tsx';
import { scopeWords } from '../../words.ts';
import { useFirstRequest } from '../../features/playground/request-samples.ts';

type CloseProps = { readonly onClose: () => void };

const expiries = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
] as const;

export function CreateKeyDialog({ onClose }: CloseProps) {
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<readonly Scope[]>(ordinaryScopes);
  const [expiry, setExpiry] = useState<(typeof expiries)[number]['value']>('');
  const [isKie, setKie] = useState(false);
  const create = useSend('/api/v1/keys', { changes: ['/api/v1/keys', '/api/v1/overview'] });
  if (create.data !== undefined)
    return <NewKeyDialog name={create.data.name} secret={create.data.key} onClose={onClose} />;
  const faults = create.error?.faults ?? {};
  const submit = () =>
    create.mutate({
      name: name.trim(),
      scopes: [...chosen],
      ...(isKie && { dialect: 'kie' as const }),
      ...(expiry !== '' && { expireTime: Date.now() + Number(expiry) * dayMs }),
    });
  return (
    <Dialog
      title="New API key"
      isBusy={create.isPending}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Dismiss onClose={onClose} isBusy={create.isPending} />
          <Button
            look="primary"
            type="submit"
            busy={create.isPending}
            disabledReason={chosen.length === 0 ? 'Choose what the key may do' : undefined}
          >
            Make the key
          </Button>
        </>
      }
    >
      {create.error !== null && Object.keys(faults).length === 0 && <ErrorBox failure={failureOf(create.error)} />}
      <TextField
        label="Name"
        placeholder="Web shop, production"
        value={name}
        onValue={setName}
        fault={faults['name']}
        hint="Which program uses it."
        required
      />
      <fieldset class="field">
        <legend>It may</legend>
        {scopes.map((scope) => (
          <CheckField
            key={scope}
            label={scopeWords[scope]}
            isChecked={chosen.includes(scope)}
            onValue={(isChecked) =>
              setChosen(scopes.filter((one) => (one === scope ? isChecked : chosen.includes(one))))
            }
          />
        ))}
      </fieldset>
      <SelectField label="Expires" value={expiry} options={expiries} onValue={setExpiry} />
      <CheckField
        label="Speaks the dialect kie"
        hint="For clients that were written for the API of kie.ai."
        isChecked={isKie}
        onValue={setKie}
      />
    </Dialog>
  );
}

const overlaps = [
  { value: '86400', label: 'One day' },
  { value: '3600', label: 'One hour' },
  { value: '604800', label: 'One week' },
  { value: '0', label: 'Not at all' },
] as const;

export function RotateKeyDialog({ apiKey, onClose }: CloseProps & { readonly apiKey: ApiKey }) {
  const [overlap, setOverlap] = useState<(typeof overlaps)[number]['value']>('86400');
  const rotate = useSend('/api/v1/keys/rotate', { changes: ['/api/v1/keys'] });
  if (rotate.data !== undefined)
    return <NewKeyDialog name={rotate.data.name} secret={rotate.data.key} onClose={onClose} />;
  return (
    <Dialog
      title={`Rotate ${apiKey.name}`}
      isBusy={rotate.isPending}
      onClose={onClose}
      onSubmit={() => rotate.mutate({ keyId: apiKey.keyId, overlapSeconds: Number(overlap) })}
      footer={
        <>
          <Dismiss onClose={onClose} isBusy={rotate.isPending} />
          <Button look="primary" type="submit" busy={rotate.isPending}>
            Make the new key
          </Button>
        </>
      }
    >
      {rotate.error !== null && <ErrorBox failure={failureOf(rotate.error)} />}
      <p>
        A new key with the same name and rights takes its place. <code>{apiKey.hint}</code> goes on for a while, so that
        programs can change over.
      </p>
      <SelectField label="How long the old key works" value={overlap} options={overlaps} onValue={setOverlap} />
    </Dialog>
  );
}

/** The secret, for the only time: nothing keeps it once the dialog is closed. */
function NewKeyDialog({ name, secret, onClose }: CloseProps & { readonly name: string; readonly secret: string }) {
  const first = useFirstRequest();
  return (
    <Dialog
      title={`Your key “${name}”`}
      isWide
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          I have stored it
        </Button>
      }
    >
      <Notice tone="warn" title="This is the only time it is shown">
        <p>The service keeps a hash of it. A lost key is replaced by a new one.</p>
      </Notice>
      <div class="secret">
        <code>{secret}</code>
        <CopyButton text={secret} label="Copy the key" isLoud />
      </div>
      <CodeBlock wraps samples={[{ title: 'Try it', text: `export VIDEOGEN_API_KEY=${secret}\n\n${first.text}` }]} />
    </Dialog>
  );
}
