import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Body, ReadPath, SendPath, SendAnswer } from '../../api/call.ts';
import { useSend } from '../../api/read-and-send-hooks.ts';
import { Button } from '../controls/button.tsx';
import { OperatorViewAwareButton } from './operator-view-aware-button.tsx';
import { Dialog, DialogButton, type DialogButtonProps, waitForResponseText } from './dialog.tsx';
import { TextField } from './form-fields.tsx';
import { Form } from './form.tsx';
import { toast } from '../feedback/toast.tsx';

type ActionProps<Path extends SendPath> = {
  readonly path: Path;
  readonly title: string;
  /** On the button: verb and object, with the amount if there is one. */
  readonly action: string;
  /** The effect in words, which a person needs before they go on. */
  readonly effect?: string;
  /** The same, for those who want to know more. */
  readonly help?: string;
  /** The fields; each field shows its error by `name`. */
  readonly children?: ComponentChildren;
  readonly body: (reason: string) => Body<Path>;
  /** Adds a field for a reason, with this hint about its readers. */
  readonly reason?: string | undefined;
  /** Has to be typed before what cannot be undone. */
  readonly confirmText?: string | undefined;
  readonly isDanger?: boolean | undefined;
  /** The service honors an Idempotency-Key here: a retry after a lost response repeats the same request. */
  readonly isOnce?: boolean;
  /** Why it cannot be submitted yet. */
  readonly disabledReason?: string | undefined;
  readonly dismiss?: string;
  readonly isWide?: boolean;
  readonly changes?: readonly ReadPath[];
  /** A toast on success. */
  readonly done?: string | ((answer: SendAnswer<Path>) => string);
  readonly onDone?: (answer: SendAnswer<Path>) => void;
  /** Replaces the form when it is done, such as a secret that is shown once. */
  readonly result?: (answer: SendAnswer<Path>, sent: Body<Path>) => ComponentChildren;
  readonly onClose: () => void;
};

/** One action in a dialog: its effect, its fields with their errors, and one request. */
export function ActionDialog<Path extends SendPath>(props: ActionProps<Path>) {
  const { path, title, action, children, body, confirmText, isDanger, done, onClose } = props;
  const [reason, setReason] = useState('');
  const [typed, setTyped] = useState('');
  const send = useSend(path, {
    isOnce: props.isOnce,
    changes: props.changes,
    onDone: (answer) => {
      if (props.result === undefined) onClose();
      if (done !== undefined) toast(typeof done === 'string' ? done : done(answer));
      props.onDone?.(answer);
    },
  });
  // The fields may have changed since the request was sent.
  if (send.isSuccess && props.result !== undefined) return <>{props.result(send.data, send.variables)}</>;
  const isConfirmed = confirmText === undefined || asShown(typed) === asShown(confirmText);
  return (
    <Dialog title={title} isWide={props.isWide} isBusy={send.isPending} onClose={onClose}>
      <Form class="" submission={send} onSubmit={() => send.mutate(body(reason.trim()))}>
        <div class="body">
          {props.effect !== undefined && <p>{props.effect}</p>}
          {props.help !== undefined && <p class="soft">{props.help}</p>}
          {children}
          {props.reason !== undefined && (
            <TextField
              label="Reason"
              name="reason"
              hint={props.reason}
              maxLength={500}
              autocomplete="off"
              required
              value={reason}
              onValue={setReason}
            />
          )}
          {confirmText !== undefined && (
            <TextField label={`Type ${confirmText} to confirm`} autocomplete="off" value={typed} onValue={setTyped} />
          )}
        </div>
        <footer>
          <Button disabledReason={send.isPending ? waitForResponseText : undefined} onClick={onClose}>
            {props.dismiss ?? 'Cancel'}
          </Button>
          <OperatorViewAwareButton
            variant={isDanger === true ? 'danger primary' : 'primary'}
            type="submit"
            busy={send.isPending}
            disabledReason={isConfirmed ? props.disabledReason : 'Type the text above to confirm'}
          >
            {action}
          </OperatorViewAwareButton>
        </footer>
      </Form>
    </Dialog>
  );
}

type ActionButtonProps<Path extends SendPath> = Omit<ActionProps<Path>, 'onClose'> & {
  readonly button: Omit<DialogButtonProps, 'children'>;
};

/** A button, and the action in the dialog that it opens. */
export function ActionButton<Path extends SendPath>({ button, ...action }: ActionButtonProps<Path>) {
  return <DialogButton {...button}>{(close) => <ActionDialog {...action} onClose={close} />}</DialogButton>;
}

/** A browser shows a run of spaces as one, so their number cannot be typed from what is in sight. */
function asShown(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}
