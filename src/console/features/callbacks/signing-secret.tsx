import { useState } from 'preact/hooks';
import { failureOf, problemOf } from '../../api/problem.ts';
import { useSend } from '../../api/queries.ts';
import { useRoleReason } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog, Dismiss } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { ErrorBox, Notice } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { verifySample } from './verify-sample.ts';

/** The secret that signs every callback of the account. It is shown a single time, so the page says so before. */
export function CallbackSecret() {
  const [shown, setShown] = useState<'reveal' | 'rotate'>();
  const reason = useRoleReason('owner');
  return (
    <Card title="Signing secret">
      <div class="stack">
        <p class="lead">
          Every callback is signed as a Standard Webhook. With the secret your receiver can tell it from a forged one.
        </p>
        <div class="row">
          <Button disabledReason={reason} onClick={() => setShown('reveal')}>
            Reveal
          </Button>
          <Button disabledReason={reason} onClick={() => setShown('rotate')}>
            Rotate
          </Button>
        </div>
        <details class="quiet">
          <summary>How to verify a callback</summary>
          <div class="body">
            <CodeBlock samples={[{ title: 'Node.js', text: verifySample() }]} />
          </div>
        </details>
      </div>
      {shown === 'reveal' && <RevealDialog onClose={() => setShown(undefined)} onRotate={() => setShown('rotate')} />}
      {shown === 'rotate' && <RotateDialog onClose={() => setShown(undefined)} />}
    </Card>
  );
}

type RevealProps = { readonly onClose: () => void; readonly onRotate: () => void };

function RevealDialog({ onClose, onRotate }: RevealProps) {
  const reveal = useSend('/api/v1/callbacks/secret', { changes: [] });
  const wasShown = reveal.error !== null && problemOf(reveal.error).error === 'callback_secret_already_shown';
  if (reveal.data !== undefined) return <SecretDialog secret={reveal.data.secret} onClose={onClose} />;
  return (
    <Dialog
      title="Reveal the signing secret"
      isBusy={reveal.isPending}
      onClose={onClose}
      onSubmit={() => reveal.mutate({})}
      footer={
        wasShown ? (
          <Button look="primary" onClick={onRotate}>
            Rotate it instead
          </Button>
        ) : (
          <>
            <Dismiss onClose={onClose} isBusy={reveal.isPending} />
            <Button look="primary" type="submit" busy={reveal.isPending}>
              Reveal it now
            </Button>
          </>
        )
      }
    >
      {wasShown ? (
        <Notice tone="warn" title="It was shown before" isAlert>
          <p>
            A secret is shown once. If you do not have it any more, rotate it: the old one goes on for as long as you
            say.
          </p>
        </Notice>
      ) : (
        <>
          {reveal.error !== null && <ErrorBox failure={failureOf(reveal.error)} />}
          <p>It is shown a single time. Have the place ready where your receiver keeps its secrets.</p>
        </>
      )}
    </Dialog>
  );
}

const overlaps = [
  { value: '86400', label: 'One day, signed with both' },
  { value: '3600', label: 'One hour, signed with both' },
  { value: '0', label: 'Not at all: the old one is out now' },
] as const;

function RotateDialog({ onClose }: { readonly onClose: () => void }) {
  const [overlap, setOverlap] = useState<(typeof overlaps)[number]['value']>('86400');
  const rotate = useSend('/api/v1/callbacks/secret/rotate', { changes: [] });
  if (rotate.data !== undefined) return <SecretDialog secret={rotate.data.secret} onClose={onClose} />;
  return (
    <Dialog
      title="Rotate the signing secret"
      isBusy={rotate.isPending}
      onClose={onClose}
      onSubmit={() => rotate.mutate({ overlapSeconds: Number(overlap) })}
      footer={
        <>
          <Dismiss onClose={onClose} isBusy={rotate.isPending} />
          <Button look="primary" type="submit" busy={rotate.isPending}>
            Make a new secret
          </Button>
        </>
      }
    >
      {rotate.error !== null && <ErrorBox failure={failureOf(rotate.error)} />}
      <p>The new secret is shown once. Give it to your receivers while the old one still counts.</p>
      <SelectField label="How long the old one counts" value={overlap} options={overlaps} onValue={setOverlap} />
    </Dialog>
  );
}

function SecretDialog({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <Dialog
      title="Your signing secret"
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          I have stored it
        </Button>
      }
    >
      <Notice tone="warn" title="This is the only time it is shown" />
      <div class="secret">
        <code>{secret}</code>
        <CopyButton text={secret} label="Copy the secret" isLoud />
      </div>
    </Dialog>
  );
}
