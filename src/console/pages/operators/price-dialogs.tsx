import { useState } from 'preact/hooks';
import type { Account, ModelPrice, SetPrice } from '../../api/contract.ts';
import { Segmented, TextField } from '../../ui/field.tsx';
import { type CreditAmounts, amountWords } from '../../ui/money.tsx';
import { ExactTime, exactTime } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { auditHint, ChangeDialog } from './change-dialog.tsx';
import { wholeOf } from './figures.ts';

type SetProps = {
  readonly model: string;
  readonly title: string;
  readonly price: Pick<ModelPrice, 'name'>;
  /** The amounts in force, if the price has begun. */
  readonly current: CreditAmounts | undefined;
  /** The model has no other price. */
  readonly isOnly: boolean;
  readonly account: Pick<Account, 'accountId' | 'name'> | undefined;
  readonly onClose: () => void;
};

const noAmounts = { creditsPerSecond: 0, creditsPerVideo: 0 };
const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A price from now on, or from a time on; or the end of the prices that were set. */
export function SetPriceDialog({ model, title, price, isOnly, current = noAmounts, account, onClose }: SetProps) {
  const [kind, setKind] = useState<'price' | 'end'>('price');
  const [perSecond, setPerSecond] = useState(String(current.creditsPerSecond));
  const [perVideo, setPerVideo] = useState(String(current.creditsPerVideo));
  const [begin, setBegin] = useState<'now' | 'later'>('now');
  const [from, setFrom] = useState('');
  const amounts = { creditsPerSecond: wholeOf(perSecond), creditsPerVideo: wholeOf(perVideo) };
  const whom = account === undefined ? 'every account without a price of its own' : account.name;
  const end = account === undefined ? 'That of the catalogue' : 'The list price';
  const what =
    kind === 'end'
      ? account === undefined
        ? 'the price of the catalogue'
        : 'the list price'
      : Object.values(amounts).every(Number.isSafeInteger)
        ? amountWords(amounts)
        : '…';
  return (
    <ChangeDialog
      path="/api/admin/v1/prices/set"
      title={`Price of ${title}${isOnly ? '' : `: ${price.name}`}`}
      action={begin === 'now' ? 'Set the price' : 'Announce the price'}
      says={`For ${whom}: ${what}. It counts for tasks that are created from then on, at the earliest a few seconds from now.`}
      fields={['creditsPerSecond', 'creditsPerVideo', 'fromTime']}
      reasonHint={auditHint}
      body={(reason) => ({
        model,
        priceName: price.name,
        ...(kind === 'end' ? { creditsPerSecond: null, creditsPerVideo: null } : amounts),
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
            <div class="amounts">
              <TextField
                label="Credits a second"
                inputMode="numeric"
                autocomplete="off"
                value={perSecond}
                onValue={setPerSecond}
                fault={faults['creditsPerSecond']}
              />
              <TextField
                label="Credits a video"
                inputMode="numeric"
                autocomplete="off"
                value={perVideo}
                onValue={setPerVideo}
                fault={faults['creditsPerVideo']}
              />
            </div>
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
  const { priceId, model, priceName, creditsPerSecond, creditsPerVideo, fromTime } = price;
  return (
    <ChangeDialog
      path="/api/admin/v1/prices/withdraw"
      title="Withdraw this price?"
      action="Withdraw the price"
      isDanger
      says={
        <>
          <code>{model}</code> (<bdi>{priceName}</bdi>) was to cost{' '}
          {creditsPerSecond === null || creditsPerVideo === null
            ? 'what is set before it'
            : amountWords({ creditsPerSecond, creditsPerVideo })}{' '}
          from <ExactTime ms={fromTime} />. The price before it stays.
        </>
      }
      reasonHint={auditHint}
      body={(reason) => ({ priceId, reason })}
      onClose={onClose}
      onDone={() => toast('The price is withdrawn')}
    />
  );
}
