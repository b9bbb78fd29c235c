import type { Person } from '../../api/contract.ts';
import { useMe } from '../../api/session.ts';
import { Badge, StateWithDot } from '../../ui/controls/badge-and-state-dot.tsx';
import { peopleText } from './people-text.ts';

type NameProps = { readonly person: Pick<Person, 'userId' | 'email'> };

export function PersonEmail({ person: { userId, email } }: NameProps) {
  const { data: me } = useMe();
  return (
    <span class="row">
      <bdi class="strong">{email}</bdi> {userId === me?.user.userId && <Badge>{peopleText.you}</Badge>}
    </span>
  );
}

type StateProps = {
  readonly person: Pick<Person, 'isDisabled'> & { readonly operator?: Pick<Person['operator'], 'isOperator'> };
};

export function PersonState({ person: { isDisabled, operator } }: StateProps) {
  return (
    <span class="row">
      {isDisabled ? (
        <StateWithDot tone="bad">{peopleText.disabled}</StateWithDot>
      ) : (
        <StateWithDot tone="good">{peopleText.active}</StateWithDot>
      )}
      {operator?.isOperator === true && <Badge tone="live">{peopleText.operator}</Badge>}
    </span>
  );
}
