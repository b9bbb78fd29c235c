import { useRead } from '../../api/read-and-send-hooks.ts';
import { Badge } from '../../ui/controls/badge-and-state-dot.tsx';
import { Monitor } from '../../ui/controls/icons.ts';
import { List } from '../../ui/lists/list.tsx';
import { Card } from '../../ui/page-card-facts-and-tiles.tsx';
import { ImmediateActionButton } from '../../ui/forms/immediate-action-button.tsx';
import { Time } from '../../ui/times-and-durations.tsx';
import { actionColumnProps } from '../../ui/lists/table.tsx';
import { deviceNameOf } from './device-name.ts';
import { securityText } from './security-text.ts';

const text = securityText.sessions;
const path = '/api/console/v1/sessions';

/** The person's sessions on all devices. */
export function Sessions() {
  const { data } = useRead(path, {});
  const others = data?.sessions.some(({ isCurrent }) => !isCurrent) ?? false;
  const endOthers = (
    <ImmediateActionButton path="/api/console/v1/sessions/end-others" body={{}} done={text.othersEnded} size="small">
      {text.endOthers}
    </ImmediateActionButton>
  );
  return (
    <Card title={text.title} actions={others ? endOthers : undefined} isFlush>
      <List
        noun={text.nouns}
        caption={text.caption}
        path={path}
        query={{}}
        rows={({ sessions }) => sessions}
        rowKey={({ sessionId }) => sessionId}
        expected={2}
        empty={{ icon: Monitor, title: text.none }}
        columns={[
          {
            title: text.columns.browser,
            kind: 'head',
            cell: ({ userAgent, isCurrent }) => (
              <span class="row">
                <strong class="strong">{deviceNameOf(userAgent) || text.unknown}</strong>
                {isCurrent && <Badge tone="good">{text.current}</Badge>}
              </span>
            ),
          },
          { title: text.columns.address, cell: ({ address }) => address ?? '–' },
          { title: text.columns.signedIn, kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
          { title: text.columns.used, kind: 'end', cell: ({ lastUseTime }) => <Time ms={lastUseTime} /> },
          { title: text.columns.expires, kind: 'end', cell: ({ expireTime }) => <Time ms={expireTime} /> },
          {
            ...actionColumnProps,
            cell: ({ sessionId, userAgent, isCurrent }) =>
              !isCurrent && (
                <ImmediateActionButton
                  path="/api/console/v1/sessions/end"
                  body={{ sessionId }}
                  done={text.ended}
                  size="small"
                  aria-label={text.endNamed(deviceNameOf(userAgent) || text.unknown)}
                >
                  {text.end}
                </ImmediateActionButton>
              ),
          },
        ]}
      />
    </Card>
  );
}
