import { useState } from 'preact/hooks';
import { useLocation, useSearch } from 'wouter-preact';
import { type Answer, queryStringOf, send } from '../api/call.ts';
import type { Me } from '../api/contract.ts';
import { signInWithPasskey } from '../api/browser-passkeys.ts';
import { useSudoAction } from '../api/read-and-send-hooks.ts';
import { Button } from '../ui/controls/button.tsx';
import { Dialog, waitForResponseText } from '../ui/forms/dialog.tsx';
import { TextField } from '../ui/forms/form-fields.tsx';
import { Form } from '../ui/forms/form.tsx';
import { shellText } from './shell-text.ts';

const text = shellText.sudo;

type SudoProps = {
  readonly email: string;
  /** Undefined when they could not be read; the dialog takes a password then. */
  readonly options: Answer<'/api/console/v1/options'> | undefined;
  readonly onConfirmed: (now: Me) => void;
  readonly onClose: () => void;
};

/** Confirms the identity of the signed-in person. */
export function SudoDialog({ email, options, onConfirmed, onClose }: SudoProps) {
  const [password, setPassword] = useState('');
  const confirm = useSudoAction(
    (how: 'password' | 'passkey') =>
      how === 'passkey'
        ? signInWithPasskey()
        : send('/api/console/v1/reauthenticate', { password }, { account: undefined }),
    { onDone: onConfirmed },
  );
  const takesPassword = options?.passwordSignIn !== false;
  const provider = options?.oidc?.name;
  return (
    <Dialog title={text.title} onClose={onClose}>
      <Form class="" submission={confirm} onSubmit={() => takesPassword && confirm.mutate('password')}>
        <div class="body">
          <p class="soft">{text.lead}</p>
          {provider !== undefined && <p class="soft">{text.leave(provider)}</p>}
          {takesPassword && (
            <>
              <input type="email" name="email" autocomplete="username" value={email} hidden readOnly />
              <TextField
                label={text.password}
                name="password"
                type="password"
                autocomplete="current-password"
                required
                value={password}
                onValue={setPassword}
              />
            </>
          )}
        </div>
        <footer>
          {options?.passkeys === true && (
            <Button
              disabledReason={confirm.isPending ? waitForResponseText : undefined}
              onClick={() => confirm.mutate('passkey')}
            >
              {text.passkey}
            </Button>
          )}
          {provider !== undefined && <ProviderLink provider={provider} />}
          {takesPassword && (
            <Button variant="primary" type="submit" busy={confirm.isPending}>
              {text.confirm}
            </Button>
          )}
        </footer>
      </Form>
    </Dialog>
  );
}

/** A link, because the browser leaves the page. */
function ProviderLink({ provider }: { readonly provider: string }) {
  const [path] = useLocation();
  const search = useSearch();
  const next = search === '' ? path : `${path}?${search}`;
  return (
    <a class="button" href={`/console/oidc/start${queryStringOf({ proof: '1', next })}`}>
      {text.confirmWith(provider)}
    </a>
  );
}
