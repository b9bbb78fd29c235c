import { useViewOnlyReason } from '../../api/session.ts';
import { Button, type ButtonProps } from '../controls/button.tsx';

/** A button that begins or submits a change: disabled while an operator views the account, where the service refuses every change. */
export function OperatorViewAwareButton({ disabledReason, ...button }: ButtonProps) {
  return <Button {...button} disabledReason={useViewOnlyReason() ?? disabledReason} />;
}
