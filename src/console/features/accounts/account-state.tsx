import type { Account } from '../../api/contract.ts';
import { StateWithDot } from '../../ui/controls/badge-and-state-dot.tsx';
import { accountsText } from './accounts-text.ts';

const tones = { active: 'good', suspended: 'bad', closed: 'calm' } as const;

export function AccountState({ account }: { readonly account: Pick<Account, 'suspendTime' | 'closeTime'> }) {
  const { suspendTime, closeTime } = account;
  const state = closeTime !== null ? 'closed' : suspendTime === null ? 'active' : 'suspended';
  return <StateWithDot tone={tones[state]}>{accountsText.states[state]}</StateWithDot>;
}
