import type { CodeBatch } from '../../api/contract.ts';
import { ActionButton, ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { StateWithDot } from '../../ui/controls/badge-and-state-dot.tsx';
import { DialogButton } from '../../ui/forms/dialog.tsx';
import { TextField } from '../../ui/forms/form-fields.tsx';
import { useFields } from '../../ui/forms/form.tsx';
import { Coins, Plus } from '../../ui/controls/icons.ts';
import { ListPage } from '../../ui/lists/list.tsx';
import { formatNumber } from '../../ui/number-formats.tsx';
import { SecretShownOnceDialog } from '../../ui/forms/secret-shown-once-dialog.tsx';
import { Time } from '../../ui/times-and-durations.tsx';
import { actionColumnProps } from '../../ui/lists/table.tsx';
import { auditReasonHint } from '../audit/audit-reason-hint.ts';
import { codesText } from './credits-text.ts';

/** Operators create and revoke batches of codes. */
export function RedemptionCodesPage() {
  return (
    <ListPage
      lead={codesText.lead}
      actions={
        <DialogButton label={codesText.create} icon={Plus} variant="primary">
          {(close) => <CreateDialog onClose={close} />}
        </DialogButton>
      }
      noun={codesText.noun}
      path="/api/admin/v1/codes"
      query={{}}
      rows={({ batches }) => batches}
      rowKey={({ batchId }) => batchId}
      empty={{ icon: Coins, title: codesText.empty, text: codesText.emptyAdvice }}
      columns={[
        { title: codesText.batch, kind: 'head', cell: ({ name }) => <bdi class="strong">{name}</bdi> },
        { title: codesText.state, cell: (batch) => <BatchState batch={batch} /> },
        { title: codesText.perCode, kind: 'end', cell: ({ credits }) => formatNumber(credits) },
        {
          title: codesText.redeemed,
          kind: 'end',
          cell: ({ redeemed, codes }) => codesText.redeemedOf(redeemed, codes),
        },
        { title: codesText.expires, kind: 'end', cell: ({ expireTime }) => <Time ms={expireTime} /> },
        { title: codesText.createdAt, kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
        { ...actionColumnProps, cell: (batch) => <WithdrawButton batch={batch} /> },
      ]}
    />
  );
}

type BatchProps = { readonly batch: CodeBatch };

function stateOf({ withdrawTime, expireTime }: CodeBatch) {
  if (withdrawTime !== null) return 'withdrawn';
  return expireTime === null || expireTime > Date.now() ? 'active' : 'expired';
}

function BatchState({ batch }: BatchProps) {
  const state = stateOf(batch);
  return <StateWithDot tone={state === 'active' ? 'good' : 'calm'}>{codesText.states[state]}</StateWithDot>;
}

function WithdrawButton({ batch }: BatchProps) {
  const { batchId, name, codes, redeemed } = batch;
  if (stateOf(batch) !== 'active' || redeemed === codes) return null;
  return (
    <ActionButton
      button={{ label: codesText.withdraw, 'aria-label': codesText.withdrawOf(name), size: 'small', variant: 'danger' }}
      path="/api/admin/v1/codes/withdraw"
      title={codesText.withdrawTitle(name)}
      action={codesText.withdrawAction}
      isDanger
      reason={auditReasonHint}
      body={(reason) => ({ batchId, reason })}
      done={codesText.withdrawn(name)}
      help={codesText.withdrawHelp(codes - redeemed)}
    />
  );
}

function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const { values, field } = useFields({ name: '', credits: '1000', codes: '10', expireTime: '' });
  return (
    <ActionDialog
      path="/api/admin/v1/codes"
      title={codesText.create}
      action={codesText.createAction(Number(values.codes), Number(values.credits))}
      body={() => ({
        name: values.name.trim(),
        credits: Number(values.credits),
        codes: Number(values.codes),
        ...(values.expireTime !== '' && { expireTime: Date.parse(values.expireTime) }),
      })}
      result={({ codes }) => (
        <SecretShownOnceDialog
          title={codesText.created(codes.length)}
          what={codesText.listNoun}
          text={codes.join('\n')}
          onClose={onClose}
        >
          {codesText.copyAdvice}
        </SecretShownOnceDialog>
      )}
      onClose={onClose}
    >
      <p class="soft">{codesText.createHelp}</p>
      <TextField
        label={codesText.name}
        hint={codesText.nameHint}
        autocomplete="off"
        required
        maxLength={100}
        {...field('name')}
      />
      <div class="amounts">
        <TextField label={codesText.perCode} type="number" min={1} step={1} required {...field('credits')} />
        <TextField label={codesText.count} type="number" min={1} step={1} required {...field('codes')} />
      </div>
      <TextField
        label={codesText.expires}
        hint={codesText.expiresHint}
        type="datetime-local"
        {...field('expireTime')}
      />
    </ActionDialog>
  );
}
