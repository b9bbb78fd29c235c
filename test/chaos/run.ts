import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runChaos } from './chaos.ts';
import { printed } from './report.ts';

// `npm run chaos -- --minutes 5 --seed 7`: exits with 0 only when nothing was violated; otherwise the folder with all
// logs and databases stays, and is printed.

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
});
const folder = await mkdtemp(join(tmpdir(), 'videogen-chaos-'));
const report = await runChaos({
  seed: Number(values.seed),
  seconds: Number(values.minutes) * 60,
  folder,
  say: (message) => process.stderr.write(`${new Date().toISOString()} ${message}\n`),
});
process.stdout.write(`${printed(report)}\n`);
if (report.violations.length > 0) process.stdout.write(`logs and databases: ${folder}\n`);
else await rm(folder, { recursive: true, force: true });
process.exit(report.violations.length > 0 ? 1 : 0);
