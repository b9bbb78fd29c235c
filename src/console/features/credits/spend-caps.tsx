import { useState } from 'preact/hooks';
import type { SpendCap } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useAccount } from '../../api/session.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { OperatorViewAwareButton } from '../../ui/forms/operator-view-aware-button.tsx';
import { shortId } from '../../ui/controls/short-id.ts';
import { SelectField } from '../../ui/forms/form-fields.tsx';
import { useFields } from '../../ui/forms/form.tsx';
import { ReadErrorBox } from '../../ui/feedback/loaded-or-read-error.tsx';
import { Card } from '../../ui/page-card-facts-and-tiles.tsx';
import { actionColumnProps, Table } from '../../ui/lists/table.tsx';
import { ExactTime } from '../../ui/times-and-durations.tsx';
import { LimitMeter } from '../../ui/charts/meter.tsx';
import { CapFields, type CapFieldValues, changedCaps } from './spend-cap-fields.tsx';
import { capsText } from './credits-text.ts';

/** The spent credits change with each task, and another owner may change a limit. */
const capsMs = 15_000;

/** The spend limits of the account, its keys and its members, with the spent credits. Owners change them. */
export function SpendCapsCard() {
  const { accountId } = useAccount();
  const read = useRead('/api/v1/caps', {}, { everyMs: capsMs });
  // The dialog belongs to the card: another read may remove the row whose button opened it.
  const [edited, setEdited] = useState<string>();
  const nameOf = useSubjectNames();
  const caps = read.data?.caps;
  return (
    <Card
      title={capsText.title}
      isFlush
      actions={
        // A form that was filled without the current limits would show none.
        <OperatorViewAwareButton
          size="small"
          disabledReason={caps === undefined ? capsText.unread : undefined}
          onClick={() => setEdited(`account ${accountId}`)}
        >
          {capsText.set}
        </OperatorViewAwareButton>
      }
    >
      <p class="card-note">{capsText.help}</p>
      <ReadErrorBox of={read} isInset />
      {caps !== undefined && caps.length > 0 && (
        <Table
          caption={capsText.caption}
          rows={caps}
          rowKey={({ subjectId, period }) => `${subjectId} ${period}`}
          columns={[
            { title: capsText.appliesTo, kind: 'head', cell: (cap) => <bdi>{nameOf(cap)}</bdi> },
            { title: capsText.period, cell: ({ period }) => capsText.periods[period] ?? period },
            { title: capsText.used, kind: 'end', cell: (cap) => <Used cap={cap} /> },
            {
              title: capsText.resets,
              kind: 'end',
              cell: ({ resetTime }) => (resetTime === null ? capsText.never : <ExactTime ms={resetTime} />),
            },
            {
              ...actionColumnProps,
              cell: (cap) => (
                <OperatorViewAwareButton
                  size="small"
                  aria-label={capsText.changeOf(nameOf(cap))}
                  onClick={() => setEdited(subjectOf(cap))}
                >
                  {capsText.change}
                </OperatorViewAwareButton>
              ),
            },
          ]}
        />
      )}
      {edited !== undefined && <CapsDialog caps={caps ?? []} subject={edited} onClose={() => setEdited(undefined)} />}
    </Card>
  );
}

function Used({ cap: { spent, cap } }: { readonly cap: SpendCap }) {
  return (
    <span>
      {capsText.usedOf(spent, cap)}
      <LimitMeter used={spent} limit={cap} />
    </span>
  );
}

type DialogProps = { readonly caps: readonly SpendCap[]; readonly subject: string; readonly onClose: () => void };

/** `subject` is a kind and an id, as in "key 01a2…". */
function CapsDialog({ caps, subject: given, onClose }: DialogProps) {
  const subjects = useSubjects();
  const [subject, setSubject] = useState(given);
  const { values, field, setValues } = useFields(textsOf(caps, subject));
  // Polling replaces these values while the dialog is open.
  const [before, setBefore] = useState(values);
  const [kind, id = ''] = subject.split(' ');
  // A revoked key or a former member is not offered, but may still have limits.
  const isOffered = subjects.some(({ value }) => value === given);
  return (
    <ActionDialog
      path="/api/v1/caps"
      title={capsText.setTitle}
      action={capsText.save}
      body={() => ({
        ...changedCaps(values, before),
        ...(kind === 'key' && { keyId: id }),
        ...(kind === 'member' && { userId: id }),
      })}
      done={capsText.saved}
      changes={['/api/v1/caps']}
      onClose={onClose}
    >
      <p class="soft">{capsText.setHelp}</p>
      <SelectField
        label={capsText.appliesTo}
        value={subject}
        options={
          isOffered
            ? subjects
            : [...subjects, { value: given, label: capsText.unknown(shortId(given.split(' ')[1] ?? '')) }]
        }
        onValue={(next) => {
          const texts = textsOf(caps, next);
          setSubject(next);
          setValues(texts);
          setBefore(texts);
        }}
      />
      <CapFields field={field} />
    </ActionDialog>
  );
}

/** The current limits as the texts of the form. */
function textsOf(caps: readonly SpendCap[], subject: string): CapFieldValues {
  const own = caps.filter((one) => subjectOf(one) === subject);
  const text = (period: SpendCap['period']) => String(own.find((one) => one.period === period)?.cap ?? '');
  return { day: text('day'), month: text('month'), total: text('total') };
}

function useSubjects() {
  const { accountId } = useAccount();
  const { data: keys } = useRead('/api/v1/keys', {});
  const { data: people } = useRead('/api/console/v1/members', {});
  const active = (keys?.keys ?? []).filter(({ revokeTime }) => revokeTime === null);
  return [
    { value: `account ${accountId}`, label: capsText.account },
    ...active.map(({ keyId, name }) => ({ value: `key ${keyId}`, label: capsText.key(name) })),
    ...(people?.members ?? []).map(({ userId, email }) => ({
      value: `member ${userId}`,
      label: capsText.member(email),
    })),
  ];
}

function useSubjectNames() {
  const subjects = useSubjects();
  return (cap: SpendCap) =>
    subjects.find(({ value }) => value === subjectOf(cap))?.label ?? capsText.unknown(shortId(cap.subjectId));
}

function subjectOf({ subject, subjectId }: SpendCap): string {
  return `${subject} ${subjectId}`;
}
