import { useState } from 'preact/hooks';
import { failureOf, problemOf } from '../../api/problem.ts';
import { useSend } from '../../api/queries.ts';
import { useRoleReason } from '../../api/session.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Dialog, DialogActions, DialogBody, DialogButton } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { ErrorBox, Notice } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';
import { callbacksText } from './callbacks-text.ts';
import { verifySample } from './verify-sample.ts';

/** The secret that signs every callback of the account, which is shown once. */
export function SigningSecret() {
  const reason = useRoleReason('owner');
  return (
    <Card title={callbacksText.secret}>
      <div class="stack">
        <p class="lead">{callbacksText.secretLead}</p>
        <div class="row">
          <DialogButton label={callbacksText.reveal} disabledReason={reason}>
            {(close) => <RevealDialog onClose={close} />}
          </DialogButton>
          <DialogButton label={callbacksText.rotate} disabledReason={reason}>
            {(close) => <RotateDialog onClose={close} />}
          </DialogButton>
        </div>
        <details class="quiet">
          <summary>{callbacksText.howToVerify}</summary>
          <div class="body">
            <CodeBlock samples={[{ title: 'Node.js', text: verifySample() }]} />
          </div>
        </details>
      </div>
    </Card>
  );
}

type CloseProps = { readonly onClose: () => void };

/** A secret that was revealed before can only be rotated. */
function RevealDialog({ onClose }: CloseProps) {
  const reveal = useSend('/api/v1/callbacks/secret', { changes: [] });
  const [isRotating, setRotating] = useState(false);
  if (isRotating) return <RotateDialog onClose={onClose} />;
  if (reveal.data !== undefined) return <Secret secret={reveal.data.secret} onClose={onClose} />;
  const wasShown = reveal.error !== null && problemOf(reveal.error).error === 'callback_secret_already_shown';
  return (
    <Dialog title={callbacksText.revealTitle} isBusy={reveal.isPending} onClose={onClose}>
      <DialogBody>
        {wasShown ? (
          <Notice tone="warn" title={callbacksText.wasShown} isAlert>
            <p>{callbacksText.wasShownSays}</p>
          </Notice>
        ) : (
          <>
            {reveal.error !== null && <ErrorBox failure={failureOf(reveal.error)} />}
            <p>{callbacksText.revealSays}</p>
          </>
        )}
      </DialogBody>
      <DialogActions>
        {wasShown ? (
          <Button look="primary" onClick={() => setRotating(true)}>
            {callbacksText.rotate}
          </Button>
        ) : (
          <Button look="primary" busy={reveal.isPending} onClick={() => reveal.mutate({})}>
            {callbacksText.reveal}
          </Button>
        )}
      </DialogActions>
    </Dialog>
  );
}

const overlaps = (['86400', '3600', '0'] as const).map((value) => ({ value, label: callbacksText.overlaps[value] }));

function RotateDialog({ onClose }: CloseProps) {
  const [overlap, setOverlap] = useState<(typeof overlaps)[number]['value']>('86400');
  return (
    <ActionDialog
      path="/api/v1/callbacks/secret/rotate"
      title={callbacksText.rotateTitle}
      action={callbacksText.rotate}
      changes={[]}
      body={() => ({ overlapSeconds: Number(overlap) })}
      result={({ secret }) => <Secret secret={secret} onClose={onClose} />}
      onClose={onClose}
    >
      <p>{callbacksText.rotateSays}</p>
      <SelectField
        label={callbacksText.keepOld}
        name="overlapSeconds"
        value={overlap}
        options={overlaps}
        onValue={setOverlap}
      />
    </ActionDialog>
  );
}

function Secret({ secret, onClose }: CloseProps & { readonly secret: string }) {
  return (
    <ShownOnce title={callbacksText.yourSecret} what={callbacksText.secretNoun} text={secret} onClose={onClose}>
      {callbacksText.storeIt}
    </ShownOnce>
  );
}
