import type { Account } from '../../api/contract.ts';
import { CreateKeyButton } from './create-key.tsx';
import { KeyList } from './key-list.tsx';
import { keysText } from './keys-text.ts';

/** For accounts without a member, operators create and revoke keys. */
export function OperatorAccountKeys({ account }: { readonly account: Account }) {
  return (
    <div class="stack">
      {account.closeTime === null && (
        <div class="row apart">
          <p class="soft">{keysText.operatorsNote}</p>
          <CreateKeyButton account={account} isSmall />
        </div>
      )}
      <KeyList account={account} />
    </div>
  );
}
