import type { Command } from 'commander';
import { resolve } from 'node:path';
import { readCatalogueOrThrow } from '../../../catalogue/file/read-catalogue-file.ts';
import type { Catalogue, CatalogueModel } from '../../../catalogue/file/catalogue-schema-and-types.ts';
import type { CataloguePrice } from '../../../catalogue/prices/model-prices.ts';
import { inputJsonSchema } from '../../../tasks/accept/documented-task-request.ts';
import { addCommand } from '../add-command.ts';
import { describeFields } from '../generate/parse-and-describe-model-fields.ts';
import { type CommandAnswer, isJsonRequested, isoTime, printAnswer } from '../command-output-and-errors.ts';

export function addCatalogueCommands(program: Command): void {
  const catalogue = addCommand(program, 'catalogue').description('check catalogues of models');
  addCommand(catalogue, 'check', 'catalogue.yaml', 'catalogue.yaml --json')
    .description('check a catalogue file without a service, and show what each model takes, costs and where it runs')
    .argument('<file>', 'the catalogue, in YAML or JSON')
    .action((file: string) => printAnswer(check(file), isJsonRequested(program)));
}

/** Secrets are not read: the keys of upstreams are often absent on the machine where a catalogue is written. */
function check(file: string): CommandAnswer {
  const catalogue = readCatalogueOrThrow({ path: resolve(file) });
  const models = [...catalogue.models.values()];
  const json = {
    models: models.map(({ model, title, aliases = [], input, prices, ...one }) => ({
      model,
      title,
      aliases,
      inputSchema: inputJsonSchema(input),
      prices,
      runsAt: remainingTiersOf(catalogue, { ...one, model }),
    })),
  };
  const count = `${models.length} ${models.length === 1 ? 'model' : 'models'}`;
  return { json, lines: [`${file} is valid: ${count}.`, ...models.flatMap((model) => describe(catalogue, model))] };
}

function describe(catalogue: Catalogue, model: CatalogueModel): readonly string[] {
  const { input, prices, title, aliases = [] } = model;
  return [
    '',
    ...describeFields({ model: model.model, title, inputSchema: inputJsonSchema(input) }),
    '',
    ...(aliases.length === 0 ? [] : [`  also called ${aliases.join(', ')}`]),
    ...prices.map((price) => `  costs ${priceText(price)}`),
    ...remainingTiersOf(catalogue, model).map(({ tier, provider, kind, origin, upstreamModel, limit }) => {
      const where = [`tier ${tier}`, provider, kind, origin ?? 'this machine'].join(', ');
      return `  runs at ${where}, as ${upstreamModel}, ${limit} at a time`;
    }),
  ];
}

function remainingTiersOf({ providers }: Catalogue, { tiers }: Pick<CatalogueModel, 'tiers' | 'model'>) {
  return tiers.flatMap((tier, index) =>
    tier.map(({ provider, upstreamModel, limit, weight }) => {
      const settings = providers.get(provider);
      const origin = settings === undefined || settings.kind === 'preview' ? null : new URL(settings.baseUrl).origin;
      return { tier: index + 1, provider, kind: settings?.kind ?? 'preview', origin, upstreamModel, limit, weight };
    }),
  );
}

function priceText({ name, amounts }: CataloguePrice): string {
  const texts = amounts.map(({ creditsPerSecond, creditsPerVideo, fromMs }) => {
    const parts = [
      ...(creditsPerSecond > 0 ? [`${creditsPerSecond} credits per second`] : []),
      ...(creditsPerVideo > 0 ? [`${creditsPerVideo} credits per video`] : []),
    ];
    return `${parts.join(' plus ')}${fromMs > 0 ? ` from ${isoTime(fromMs)}` : ''}`;
  });
  return `${texts.join(', then ')} (${name})`;
}
