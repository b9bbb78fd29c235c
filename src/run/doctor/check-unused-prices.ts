import type { OperatorPriceNameWithAccounts } from '../../credits/prices/operator-prices.ts';
import { checkOrDefaultPriceName, type ModelsByName } from '../../catalogue/models/model-type-and-name-lookup.ts';
import { type Finding, ok, warning } from './checks-and-findings.ts';

const maxShown = 5;

/** Operators set prices by name. One whose model or name has left the catalogue changes no charge any more. */
export function unusedPricesFinding(models: ModelsByName, prices: readonly OperatorPriceNameWithAccounts[]): Finding {
  const unused = prices.filter(({ model, priceName }) => !checkOrDefaultPriceName(models, model, priceName).ok);
  const [first] = unused;
  if (first === undefined) return ok('prices', `the catalogue has all prices that operators set (${prices.length})`);
  const shown = unused.slice(0, maxShown).map(({ model, priceName, accounts }) => {
    return `${model} '${priceName}'${accounts === 0 ? '' : ` (accounts: ${accounts})`}`;
  });
  const more = unused.length > maxShown ? ` and ${unused.length - maxShown} more` : '';
  return warning(
    'prices',
    `operators set prices that the catalogue does not have, so they change no charge: ${shown.join(', ')}${more}`,
    'Give the price its name again in the catalogue. Or set the price that replaces it, and end this one with its account: ' +
      `videogen api POST /api/admin/v1/prices/set -f model=${first.model} -f priceName='${first.priceName}' -F creditsPerSecond=null -f reason=…`,
  );
}
