import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Body, SendPath, Sent } from '../../api/call.ts';
import { type ApiProblem, failureOf } from '../../api/problem.ts';
import { useSend } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, Dismiss } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { ErrorBox } from '../../ui/notice.tsx';

export type Faults = Readonly<Record<string, string>>;

type ChangeProps<Path extends SendPath> = {
  readonly path: Path;
  readonly title: string;
  /** On the button: what is done, with its figure. */
  readonly action: string;
  /** What happens, said before it does. */
  readonly says: ComponentChildren;
  readonly body: (reason: string) => Body<Path>;
  /** The fields, each with its fault; `reason` is not among them. */
  readonly children?: (faults: Faults) => ComponentChildren;
  /** Paths of those fields. A fault of another one is told above them. */
  readonly fields?: readonly string[];
  /** What the person has to do besides before the change can be made. */
  readonly missing?: string | undefined;
  /** What the reason is for; without it none is asked for. */
  readonly reasonHint?: string;
  readonly isDanger?: boolean;
  /** What the button says that changes nothing; `Close`, unless that is what the change is called. */
  readonly dismissal?: string;
  /** Credits are booked for this account, once, also when an answer is lost and the dialog is closed and opened again. */
  readonly booksFor?: string;
  /** A refusal that belongs to one field. */
  readonly faultsOf?: (problem: ApiProblem) => Faults | undefined;
  readonly onDone: (answer: Sent<Path>) => void;
  readonly onClose: () => void;
};

export const auditHint = 'Kept in the audit log with your name.';

/** A change by an operator: says what happens, asks why, and shows what the service refuses beside its field. */
export function ChangeDialog<Path extends SendPath>(props: ChangeProps<Path>) {
  const { path, title, action, says, body, children, fields = [], reasonHint, isDanger, booksFor, onClose } = props;
  const [reason, setReason] = useState('');
  const box = useRef<HTMLDivElement>(null);
  const change = useSend(path, {
    onDone: (answer) => {
      onClose();
      props.onDone(answer);
    },
    isOnce: booksFor !== undefined,
  });
  const { error } = change;
  const missing = reasonHint !== undefined && reason.trim() === '' ? 'Give a reason first' : props.missing;
  const faults = error === null ? {} : (props.faultsOf?.(error) ?? error.faults);
  const elsewhere = Object.entries(faults).filter(([at]) => ![...fields, 'reason'].includes(at));
  const isTold = error === null || (Object.keys(faults).length > 0 && elsewhere.length === 0);
  useEffect(() => {
    box.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  const footer = (
    <>
      <Dismiss onClose={onClose} isBusy={change.isPending}>
        {props.dismissal ?? 'Close'}
      </Dismiss>
      <Button
        look={isDanger === true ? 'danger' : 'primary'}
        type="submit"
        busy={change.isPending}
        disabledReason={missing}
      >
        {action}
      </Button>
    </>
  );
  return (
    <Dialog
      title={title}
      isBusy={change.isPending}
      onClose={onClose}
      footer={footer}
      onSubmit={() => {
        if (missing === undefined && !change.isPending) change.mutate(body(reason.trim()));
      }}
    >
      <div ref={box} class="stack">
        <div class="soft">{says}</div>
        {!isTold && error !== null && <ErrorBox failure={failureOf(error, elsewhere)} />}
        {children?.(faults)}
        {reasonHint !== undefined && (
          <TextField
            label="Reason"
            hint={reasonHint}
            maxLength={500}
            autocomplete="off"
            value={reason}
            onValue={setReason}
            fault={faults['reason']}
          />
        )}
      </div>
    </Dialog>
  );
}
