import { Link } from 'wouter-preact';
import { useMe } from '../../api/session.ts';
import { operatorPaths, accountPaths } from '../../paths.ts';
import { Card, Facts } from '../../ui/page-card-facts-and-tiles.tsx';
import { TableCard } from '../../ui/lists/table-card.tsx';
import { roleWord } from '../people/role-text.ts';
import { PersonalPage } from './personal-page-frame.tsx';
import { securityText } from './security-text.ts';

const text = securityText.profile;

/** The person's e-mail, and the accounts that they have access to. */
export function ProfilePage() {
  const { data: me } = useMe();
  if (me === undefined || me === null) return null;
  const { user, accounts } = me;
  return (
    <PersonalPage lead={text.lead}>
      <Card title={text.person}>
        <Facts
          facts={[
            [text.email, <bdi>{user.email}</bdi>],
            ...(user.isOperator
              ? [[text.access, <Link href={operatorPaths.overview}>{text.operator}</Link>] as const]
              : []),
          ]}
        />
      </Card>
      <TableCard
        title={text.accounts}
        none={<p class="card-note">{text.noAccounts}</p>}
        rows={accounts}
        rowKey={({ accountId }) => accountId}
        columns={[
          {
            title: text.account,
            kind: 'head',
            cell: ({ accountId, name }) => (
              <Link href={accountPaths.overview(accountId)}>
                <bdi>{name}</bdi>
              </Link>
            ),
          },
          { title: text.role, cell: ({ role }) => roleWord(role) },
        ]}
      />
    </PersonalPage>
  );
}
