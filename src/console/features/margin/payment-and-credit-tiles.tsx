import { sectionTitle } from '../../../credits/reports/statement-section-titles.ts';
import type { Answer } from '../../api/call.ts';
import { formatCredits, formatMicros, formatMinorUnits } from '../../ui/number-formats.tsx';
import { Tiles } from '../../ui/page-card-facts-and-tiles.tsx';
import { marginText } from './margin-text.ts';
import './margin.css';

type Margin = Answer<'/api/admin/v1/margin'>;

/** Money that customers paid, and credits that accounts got for it or otherwise. Absent if there was neither. */
export function PaymentAndCreditTiles({ margin: { paid, booked, currency } }: { readonly margin: Margin }) {
  const sold = booked.toSorted((one, other) => Number(other.isRevenue) - Number(one.isRevenue));
  if (paid.length === 0 && booked.length === 0) return null;
  return (
    <div class="paid-money">
      <Tiles
        tiles={[
          ...paid.map(({ currency: of, isTest, topUps, minorUnits, returnedMinorUnits }) => ({
            label: marginText.paid(of, isTest),
            value: formatMinorUnits(minorUnits - returnedMinorUnits, of),
            note: marginText.purchases(
              topUps,
              returnedMinorUnits === 0 ? undefined : formatMinorUnits(returnedMinorUnits, of),
            ),
          })),
          ...sold.map(({ section, credits: amount, valueMicros }) => ({
            label: sectionTitle(section),
            value: formatMicros(valueMicros, currency),
            note: formatCredits(amount).replace('-', '\u2212'),
          })),
        ]}
      />
    </div>
  );
}
