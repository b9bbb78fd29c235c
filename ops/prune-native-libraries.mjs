// Removes the builds of Temporal's native library for other platforms, and its Rust sources, from node_modules: 115 of 148 MB that
// nothing on this machine can load. `npm ci` runs this through the `prepare` script, and the image's build calls it.
import { readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const folder = dirname(require.resolve('@temporalio/core-bridge/package.json'));
const { getPrebuiltTargetName } = require('@temporalio/core-bridge/common.js');

const releases = join(folder, 'releases');
const foreign = readdirSync(releases).filter((target) => target !== getPrebuiltTargetName());
for (const target of foreign) rmSync(join(releases, target), { recursive: true });
rmSync(join(folder, 'sdk-core'), { recursive: true, force: true });
