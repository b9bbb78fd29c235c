import { useState } from 'preact/hooks';
import { useNotAllowedReason } from '../../api/session.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { CodeBlock } from '../../ui/controls/code-block.tsx';
import { DialogButton } from '../../ui/forms/dialog.tsx';
import { SelectField } from '../../ui/forms/form-fields.tsx';
import { Card } from '../../ui/page-card-facts-and-tiles.tsx';
import { SecretShownOnceDialog } from '../../ui/forms/secret-shown-once-dialog.tsx';
import { callbacksText } from './callbacks-text.ts';
import { verificationSample } from './verification-sample.ts';

const paths = {
  callbacks: { reveal: '/api/v1/callbacks/secret', rotate: '/api/v1/callbacks/secret/rotate' },
  events: { reveal: '/api/v1/events/secret', rotate: '/api/v1/events/secret/rotate' },
} as const;

type SecretProps = { readonly of: keyof typeof paths };

/** The secret that signs every callback or event of the account, which is shown once. */
export function SigningSecret({ of }: SecretProps) {
  const reason = useNotAllowedReason('owner');
  return (
    <Card title={callbacksText.secret}>
      <div class="stack">
        <p class="lead">{callbacksText.secretLeads[of]}</p>
        <div class="row">
          <DialogButton label={callbacksText.reveal} disabledReason={reason}>
            {(close) => <RevealDialog of={of} onClose={close} />}
          </DialogButton>
          <DialogButton label={callbacksText.rotate} disabledReason={reason}>
            {(close) => <RotateDialog of={of} onClose={close} />}
          </DialogButton>
        </div>
        <details>
          <summary>{callbacksText.howToVerify[of]}</summary>
          <div class="body">
            <CodeBlock samples={[{ title: 'Node.js', text: verificationSample() }]} />
          </div>
        </details>
      </div>
    </Card>
  );
}

type CloseProps = { readonly onClose: () => void };

/** A secret that was revealed before can only be rotated, which the error explains. */
function RevealDialog({ of, onClose }: SecretProps & CloseProps) {
  return (
    <ActionDialog
      path={paths[of].reveal}
      title={callbacksText.revealTitle}
      action={callbacksText.reveal}
      changes={[]}
      body={() => ({})}
      result={({ secret }) => <Secret secret={secret} onClose={onClose} />}
      effect={callbacksText.revealEffect}
      onClose={onClose}
    />
  );
}

const overlaps = (['86400', '3600', '0'] as const).map((value) => ({ value, label: callbacksText.overlaps[value] }));

function RotateDialog({ of, onClose }: SecretProps & CloseProps) {
  const [overlap, setOverlap] = useState<(typeof overlaps)[number]['value']>('86400');
  return (
    <ActionDialog
      path={paths[of].rotate}
      title={callbacksText.rotateTitle}
      action={callbacksText.rotate}
      changes={[]}
      body={() => ({ overlapSeconds: Number(overlap) })}
      result={({ secret }) => <Secret secret={secret} onClose={onClose} />}
      onClose={onClose}
    >
      <p>{callbacksText.rotateEffect}</p>
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
    <SecretShownOnceDialog
      title={callbacksText.yourSecret}
      what={callbacksText.secretNoun}
      text={secret}
      onClose={onClose}
    >
      {callbacksText.storeIt}
    </SecretShownOnceDialog>
  );
}
