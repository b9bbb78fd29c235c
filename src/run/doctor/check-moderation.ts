import { dirname } from 'node:path';
import { type Config, catalogueSecretReader } from '../config/config.ts';
import { defaultModerationHook } from '../config/complete-settings-and-derived-values.ts';
import { createModerator, type HookProblem, type ModerationVerdict } from '../../providers/moderation/moderator.ts';
import { failure, type Finding, ok, unchecked, warning } from './checks-and-findings.ts';

const check = 'moderation';
const harmless = 'A lighthouse by the sea at sunrise.';
const page = 'docs/moderation.md';

type Settings = Parameters<typeof defaultModerationHook>[0] & Pick<Config, 'catalogue' | 'catalogueFile'>;

/** Has each hook check a harmless prompt, as a create would. Returns nothing without hooks. */
export async function checkModeration(settings: Settings, { isApi }: { isApi: boolean }): Promise<readonly Finding[]> {
  // One model for each hook is enough.
  const models = [...settings.catalogue.models];
  const byHook = new Map(models.map(([name, { moderation }]) => [JSON.stringify(moderation), name]));
  const findings = [...byHook.values()].map((model) => checkHook(settings, model, isApi));
  return (await Promise.all(findings)).flat();
}

async function checkHook(settings: Settings, model: string, isApi: boolean): Promise<readonly Finding[]> {
  const problems: HookProblem[] = [];
  const moderator = createModerator({
    installation: defaultModerationHook(settings),
    catalogue: () => settings.catalogue,
    readSecret: catalogueSecretReader(dirname(settings.catalogueFile ?? '')),
    linkTo: (url) => url,
    own: [],
    events: { emit: () => {} },
    log: { warn: (problem) => void problems.push(problem) },
  });
  // No request is left to abort when the check has ended, so the moderator needs no close.
  if (!moderator.checks(model)) return [];
  const verdict = await moderator.check({ model, prompt: harmless, imageUrls: [] });
  const [problem] = problems;
  if (problem === undefined) return [findingOf(model, verdict)];
  // Only APIs need the key, so it may be missing on this machine.
  if (problem.kind === 'setup' && !isApi)
    return [unchecked(check, `${model}: its key is not set here`, 'Run "videogen doctor --role api" beside an API.')];
  const { kind, detail } = problem;
  return [failure(check, `${model}: ${kind}: ${detail}`, `Check address, key and shape of the hook (${page}).`)];
}

function findingOf(model: string, verdict: ModerationVerdict): Finding {
  return verdict.kind === 'refused'
    ? warning(check, `${model}: the hook refuses a harmless prompt as ${verdict.category}`, `Check the hook (${page}).`)
    : ok(check, `${model}: the hook answers`);
}
