import type { ComponentChildren } from 'preact';
import type { Body, SendPath } from '../../api/call.ts';
import { useSend } from '../../api/read-and-send-hooks.ts';
import type { ButtonProps } from '../controls/button.tsx';
import { OperatorViewAwareButton } from './operator-view-aware-button.tsx';
import { toast, toastFailure } from '../feedback/toast.tsx';

type SendButtonProps<Path extends SendPath> = Omit<ButtonProps, 'busy' | 'onClick'> & {
  readonly path: Path;
  readonly body: Body<Path>;
  /** A toast on success. */
  readonly done: string;
  readonly children: ComponentChildren;
};

/** Sends a request that needs no confirmation. */
export function ImmediateActionButton<Path extends SendPath>({ path, body, done, ...button }: SendButtonProps<Path>) {
  const send = useSend(path, { onDone: () => toast(done) });
  return (
    <OperatorViewAwareButton
      {...button}
      busy={send.isPending}
      onClick={() => send.mutate(body, { onError: toastFailure })}
    />
  );
}
