import type { Model } from '../../catalogue/models/model-type-and-name-lookup.ts';
import type { CataloguePrice } from '../../catalogue/prices/model-prices.ts';
import type { Database } from '../../platform/database/database.ts';
import { many } from '../../platform/database/declare-statements.ts';
import { listedBeginSql, listedPricesFromJsonSql, taskPriceSql } from './task-price-sql-and-quote.ts';

/** Bounds the announced changes of a price that are read, own and general ones each. */
const maxAnnounced = 100;

const announced = (account: string) => `
  (select effective_from from prices where model = request.model and price_name = request.name and account_id ${account}
    and withdrawn_at is null and effective_from > now() order by effective_from limit ${maxAnnounced})`;
const price = taskPriceSql({ model: 'request.model', accountId: '$1', listed: 'request.listed::json', at: 'at' });

type AmountsAtInstant = {
  readonly nth: number;
  readonly fromMs: number;
  readonly creditsPerSecond: number;
  readonly creditsPerVideo: number;
};

type Named = { readonly model: string; readonly row: CataloguePrice };

const readAmountsAtInstants = many<AmountsAtInstant, [accountId: string | undefined, rows: readonly Named[]]>({
  name: 'read-prices',
  text: `
select request.nth::int, since as "fromMs", credits_per_second as "creditsPerSecond", credits_per_video as "creditsPerVideo"
from unnest($2::text[], $3::text[], $4::text[]) with ordinality request (model, name, listed, nth)
cross join lateral (
  select now() as at union ${announced('= $1::uuid')} union ${announced('is null')}
  union select ${listedBeginSql} from ${listedPricesFromJsonSql('request.listed::json')} where ${listedBeginSql} > now()
) instants
cross join lateral ${price} price
order by request.nth, at`,
  values: (accountId, rows) => [
    accountId,
    rows.map(({ model }) => model),
    rows.map(({ row: { name } }) => name),
    rows.map(({ row: { name, amounts } }) => JSON.stringify(amounts.toReversed().map((one) => ({ name, ...one })))),
  ],
});

/**
 * Returns the prices of each model as they apply to an account, or to accounts without prices of their own. The amounts of each are
 * those in force, if any have begun, and the announced ones.
 */
export async function readCurrentAndAnnouncedPrices(
  db: Database,
  accountId: string | undefined,
  models: readonly Model[],
): Promise<ReadonlyMap<string, readonly CataloguePrice[]>> {
  const named = models.flatMap(({ model, prices }) => prices.map((row) => ({ model, row })));
  const amounts = new Map<number, AmountsAtInstant[]>();
  for (const one of await readAmountsAtInstants(db, accountId, named)) {
    const ofRow = amounts.get(one.nth) ?? [];
    amounts.set(one.nth, ofRow);
    if (!isSame(ofRow.at(-1), one)) ofRow.push(one);
  }
  const prices = new Map<string, CataloguePrice[]>();
  for (const [index, { model, row }] of named.entries()) {
    const ofModel = prices.get(model) ?? [];
    prices.set(model, ofModel);
    ofModel.push({ ...row, amounts: (amounts.get(index + 1) ?? []).map(({ nth: _nth, ...one }) => one) });
  }
  return prices;
}

function isSame(a: AmountsAtInstant | undefined, b: AmountsAtInstant): boolean {
  return a?.creditsPerSecond === b.creditsPerSecond && a.creditsPerVideo === b.creditsPerVideo;
}
