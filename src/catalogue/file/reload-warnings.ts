import type { Catalogue } from './catalogue-schema-and-types.ts';
import type { Database } from '../../platform/database/database.ts';
import { many } from '../../platform/database/declare-statements.ts';
import type { Log } from '../../platform/log/log.ts';

// A reload may drop a provider whose jobs still run, or a model that is still sold. Both are allowed, and easily a mistake.

const countJobs = many<{ readonly provider: string; readonly jobs: number }, [providers: readonly string[]]>({
  name: 'count-jobs-of-dropped-providers',
  text: `
select provider, count(*)::int as jobs from provider_jobs
where provider = any($1) and submitted_at is not null
  and pool is not null and upstream_ended_at is null and settled_at is null and outcome is null
group by provider order by provider limit 100`,
});

const countSales = many<{ readonly model: string; readonly tasks: number }, [models: readonly string[]]>({
  name: 'count-tasks-of-dropped-models',
  text: `
select model, count(*)::int as tasks from tasks
where created_at > now() - interval '1 day' and model = any($1) group by model order by model limit 100`,
});

type Names = Pick<Catalogue, 'providers' | 'models'>;
type Deps = { readonly db: Database; readonly log: Pick<Log, 'warn'> };

export async function warnOfRemovedProvidersOrModels({ db, log }: Deps, before: Names, after: Names): Promise<void> {
  const providers = [...before.providers.keys()].filter((name) => !after.providers.has(name));
  const models = [...before.models.keys()].filter((name) => !after.models.has(name));
  const jobs = providers.length === 0 ? [] : await countJobs(db, providers);
  for (const one of jobs)
    log.warn(
      one,
      'provider with running jobs removed; they are paused until it is back, and refunded at their deadline',
    );
  const sales = models.length === 0 ? [] : await countSales(db, models);
  for (const one of sales) log.warn(one, 'model sold in the last day removed');
}
