import type { Account } from '../../api/contract.ts';
import { useAccount } from '../../api/session.ts';
import { Forbidden } from '../../shell/page-states.tsx';
import { Page } from '../../ui/page-layout.tsx';
import { CreateKeyButton } from './create-key.tsx';
import { KeyList } from './key-list.tsx';
import { keysText } from './keys-text.ts';

export function KeysPage() {
  const { name, role } = useAccount();
  if (role !== 'owner') return <Forbidden what={keysText.forOwnersOnly} />;
  return (
    <Page lead={keysText.lead(name)} actions={<CreateKeyButton />}>
      <KeyList />
    </Page>
  );
}

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
