import { useAccount } from '../../api/session.ts';
import { Forbidden } from '../../shell/page-states.tsx';
import { Page } from '../../ui/page-card-facts-and-tiles.tsx';
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
