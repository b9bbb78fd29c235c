import { useState } from 'preact/hooks';
import type { Account, SetPrice } from '../../api/contract.ts';
import { Segmented, TextField } from '../../ui/field.tsx';
import { number } from '../../ui/money.tsx';
import { ExactTime, exactTime } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { auditHint, ChangeDialog } from './change-dialog.tsx';
import { wholeOf, writtenNumber } from './figures.ts';

type SetProps = {
  readonly model: string;
  readonly title: string;
  readonly creditsPerSecond: number;
  readonly account: Pick<Account, 'accountId' | 'name'> | undefined;
  readonly onClose: () => void;
};

const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A price from now on, or from a time on; or the end of the prices that were set. */
export function SetPriceDialog({ model, title, creditsPerSecond, account, onClose }: SetProps) {
  const [kind, setKind] = useState<'price' | 'end'>('price');
  const [text, setText] = useState(String(creditsPerSecond));
  const [begin, setBegin] = useState<'now' | 'later'>('now');
  const [from, setFrom] = useState('');
  const price = writtenNumber(wholeOf(text));
  const whom = account === undefined ? 'every account without a price of its own' : account.name;
  const end = account === undefined ? 'That of the catalogue' : 'The list price';
  const what =
    kind === 'end'
      ? account === undefined
        ? 'the price of the catalogue'
        : 'the list price'
      : price === undefined
        ? '…'
        : `${number(price)} credits a second`;
  return (
    <ChangeDialog
      path="/api/admin/v1/prices/set"
      title={`Price of ${title}`}
      action={begin === 'now' ? 'Set the price' : 'Announce the price'}
      says={`For ${whom}: ${what}. It counts for tasks that are created from then on, at the earliest a few seconds from now.`}
      fields={['creditsPerSecond', 'fromTime']}
      reasonHint={auditHint}
      body={(reason) => ({
        model,
        creditsPerSecond: kind === 'end' ? null : wholeOf(text),
        accountId: account?.accountId ?? null,
        fromTime: begin === 'now' ? null : Date.parse(from),
        reason,
      })}
      onClose={onClose}
      onDone={({ fromTime }) => toast(`The price counts from ${exactTime(fromTime)}`)}
    >
      {(faults) => (
        <>
          <Segmented
            label="Price"
            value={kind}
            options={[
              { value: 'price', label: account === undefined ? 'Set here' : 'Its own' },
              { value: 'end', label: end },
            ]}
            onValue={setKind}
          />
          {kind === 'price' && (
            <TextField
              label="Credits a second"
              inputMode="numeric"
              autocomplete="off"
              value={text}
              onValue={setText}
              fault={faults['creditsPerSecond']}
            />
          )}
          <Segmented
            label="From"
            value={begin}
            options={[
              { value: 'now', label: 'As soon as can be' },
              { value: 'later', label: 'A later time' },
            ]}
            onValue={setBegin}
            fault={begin === 'now' ? faults['fromTime'] : undefined}
          />
          {begin === 'later' && (
            <TextField
              label="Time"
              type="datetime-local"
              hint={`In your time zone, ${zone}. Until then the accounts see it as announced.`}
              value={from}
              onValue={setFrom}
              fault={faults['fromTime'] === undefined ? undefined : 'Choose a time that is not past.'}
            />
          )}
        </>
      )}
    </ChangeDialog>
  );
}

export function WithdrawDialog({ price, onClose }: { readonly price: SetPrice; readonly onClose: () => void }) {
  const { priceId, model, creditsPerSecond, fromTime } = price;
  return (
    <ChangeDialog
      path="/api/admin/v1/prices/withdraw"
      title="Withdraw this price?"
      action="Withdraw the price"
      isDanger
      says={
        <>
          <code>{model}</code> was to cost{' '}
          {creditsPerSecond === null ? 'what is set before it' : `${number(creditsPerSecond)} credits a second`} from{' '}
          <ExactTime ms={fromTime} />. The price before it stays.
        </>
      }
      reasonHint={auditHint}
      body={(reason) => ({ priceId, reason })}
      onClose={onClose}
      onDone={() => toast('The price is withdrawn')}
    />
  );
}
