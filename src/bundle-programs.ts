import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';

// Run once by the build, as the last step. Node needs a millisecond or two for each file that it loads, and the API alone is five
// hundred of them with its packages: in a few large ones a start takes half a second less (docs/decisions.md).

/** They bring a native library, threads or files of their own, which are looked for beside their code; or half of Temporal. */
const leftAsPackages = ['@temporalio/*', 'mediabunny', 'pino', 'sharp'];

/** What packages in CommonJS expect to be there. */
const require =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);";

await build({
  absWorkingDir: fileURLToPath(new URL('../..', import.meta.url)),
  entryPoints: ['api', 'cli', 'migrate', 'worker'].map((program) => `src/${program}.ts`),
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: leftAsPackages,
  banner: { js: require },
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
});
