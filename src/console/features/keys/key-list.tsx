import { ordinaryScopes, scopes as allScopes } from '../../../accounts/keys/scopes-dialects-and-caller.ts';
import type { UsedApiKey } from '../../api/contract.ts';
import { accountPages } from '../../pages.ts';
import { Badge, StateWithDot } from '../../ui/controls/badge-and-state-dot.tsx';
import { KeyRound } from '../../ui/controls/icons.ts';
import { List } from '../../ui/lists/list.tsx';
import { formatNumber } from '../../ui/number-formats.tsx';
import { actionColumnProps, type Column } from '../../ui/lists/table.tsx';
import { Time } from '../../ui/times-and-durations.tsx';
import { KeyActions } from './rotate-and-revoke-key.tsx';
import { type OptionalAccountProps, keyStateOf } from './key-state.ts';
import { keysText, scopeText } from './keys-text.ts';

/** The keys of an account with their use, for its owners and for operators. */
export function KeyList({ account }: OptionalAccountProps) {
  const isOwn = account === undefined;
  return (
    <List
      noun={keysText.noun}
      path={isOwn ? '/api/v1/keys' : '/api/admin/v1/keys'}
      query={isOwn ? {} : { accountId: account.accountId }}
      rows={({ keys }) => keys}
      rowKey={({ keyId }) => keyId}
      columns={columnsOf({ account })}
      caption={accountPages.keys.title}
      empty={{ icon: KeyRound, title: keysText.empty, text: isOwn ? keysText.emptyAdvice : keysText.emptyForOperators }}
    />
  );
}

function columnsOf({ account }: OptionalAccountProps): readonly Column<UsedApiKey>[] {
  return [
    {
      title: keysText.name,
      kind: 'head',
      cell: ({ name, hint }) => (
        <span>
          <bdi class="strong">{name}</bdi>
          <code class="under nowrap">{hint}</code>
        </span>
      ),
    },
    { title: keysText.state, kind: 'shrink', cell: (key) => <KeyState apiKey={key} /> },
    { title: keysText.access, cell: (key) => <Access apiKey={key} /> },
    {
      title: keysText.use,
      kind: 'end',
      cell: ({ uses: { credits, tasks } }) => (
        <span>
          {formatNumber(credits)}
          <small class="under">{keysText.tasks(formatNumber(tasks))}</small>
        </span>
      ),
    },
    { title: keysText.lastUsed, kind: 'end', cell: ({ lastUseTime }) => <Time ms={lastUseTime} /> },
    { title: keysText.created, kind: 'end', isMinor: true, cell: ({ createTime }) => <Time ms={createTime} /> },
    { ...actionColumnProps, cell: (key) => <KeyActions apiKey={key} account={account} /> },
  ];
}

type KeyProps = { readonly apiKey: UsedApiKey };

const tones = { active: 'good', expired: 'calm', revoked: 'calm' } as const;

function KeyState({ apiKey }: KeyProps) {
  const state = keyStateOf(apiKey);
  return (
    <span>
      <StateWithDot tone={tones[state]}>{keysText.states[state]}</StateWithDot>
      {state === 'active' && apiKey.expireTime !== null && (
        <small class="under">
          {keysText.expiresAt} <Time ms={apiKey.expireTime} />
        </small>
      )}
    </span>
  );
}

/** A key can list many models; the rest are in its title. */
const modelsShown = 3;

function Access({ apiKey: { scopes, dialect, models } }: KeyProps) {
  const word = accessWord(scopes);
  return (
    <span>
      <span class="badges" title={scopes.map((scope) => scopeText[scope] ?? scope).join('\n')}>
        {word}
        {dialect === 'kie' && <Badge tone="live">{keysText.kieBadge}</Badge>}
      </span>
      {word === keysText.custom && <small class="under">{scopes.join(', ')}</small>}
      {models !== null && (
        <small class="under" title={models.join('\n')}>
          {keysText.onlyModels(models.slice(0, modelsShown), models.length - modelsShown)}
        </small>
      )}
    </span>
  );
}

function accessWord(scopes: UsedApiKey['scopes']): string {
  if (scopes.length >= allScopes.length) return keysText.fullAccess;
  if (scopes.every((scope) => scope.endsWith(':read'))) return keysText.readOnly;
  const isStandard = scopes.length === ordinaryScopes.length && ordinaryScopes.every((one) => scopes.includes(one));
  return isStandard ? keysText.standard : keysText.custom;
}
