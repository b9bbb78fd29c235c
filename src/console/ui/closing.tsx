import { useState } from 'preact/hooks';
import { TextField } from './field.tsx';

/** What the closing of an account does, said before it is done. */
export function ClosingWords() {
  return (
    <>
      <p>
        <strong>At once:</strong> its keys are revoked, its members and invitations taken out. Within minutes its
        unfinished tasks are canceled and refunded. No callback is sent any more.
      </p>
      <p>
        <strong>Deleted:</strong> prompts, images, videos and callbacks of all its tasks, and the callback secret.
      </p>
      <p>
        <strong>Kept:</strong> the ledger, the audit log, the account’s id and name; ids, models, times, states and
        prices of its tasks; the people, who may be in other accounts. This cannot be undone.
      </p>
    </>
  );
}

/** Has the name of an account typed before what cannot be undone; says what is missing until then. */
export function useTypedName(name: string) {
  const [typed, setTyped] = useState('');
  return {
    missing: typed.trim() === name.trim() ? undefined : 'Type the account’s name first',
    field: <TextField label={`Type ${name} to confirm`} autocomplete="off" value={typed} onValue={setTyped} />,
  };
}
