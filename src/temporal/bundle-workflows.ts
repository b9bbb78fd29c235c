import { bundleWorkflowCode } from '@temporalio/worker';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

// A step of build.mjs: bundling takes seconds, and every worker and workflow test uses the same file. Tracing has its own bundle,
// because it makes each workflow heavier.
const pathOf = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));

async function bundle(file: string, workflowInterceptorModules: string[]): Promise<void> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: pathOf('workflows/index.js'),
    workflowInterceptorModules,
    logger: { ...console, log: () => {}, trace: () => {}, debug: () => {}, info: () => {} },
  });
  await writeFile(pathOf(file), code);
}

await bundle('workflow-bundle.js', []);
await bundle('workflow-bundle-traced.js', [pathOf('workflows/trace-interceptors.js')]);
