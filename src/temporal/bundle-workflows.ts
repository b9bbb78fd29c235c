import { bundleWorkflowCode } from '@temporalio/worker';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

// A step of build.mjs, beside whose output it writes: bundling takes seconds, and every worker and workflow test uses the same file.
const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('../../workflows/index.js', import.meta.url)),
  logger: { ...console, log: () => {}, trace: () => {}, debug: () => {}, info: () => {} },
});
await writeFile(fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url)), code);
