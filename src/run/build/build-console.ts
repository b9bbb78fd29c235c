import { build, type Metafile } from 'esbuild';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

// A step of build.mjs: writes dist/console/index.html, docs.html and their files in dist/console/assets, each also compressed. Their names contain a
// hash of the content, so browsers cache them forever.
const folder = fileURLToPath(new URL('../../../console', import.meta.url));
const assets = join(folder, 'assets');
const source = 'src/console';

const common = {
  bundle: true,
  minify: true,
  metafile: true,
  target: 'es2022',
  outdir: assets,
  entryNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  legalComments: 'none',
  logLevel: 'warning',
} as const;

const [app, theme, docs, docsEarly] = await Promise.all([
  build({
    ...common,
    entryPoints: [`${source}/main.tsx`],
    format: 'esm',
    splitting: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.woff2': 'file' },
  }),
  // Runs before the first paint, so it is no module.
  build({ ...common, entryPoints: [`${source}/apply-stored-theme.ts`], format: 'iife' }),
  // The pages under /docs share the tokens and the font of the console.
  build({
    ...common,
    entryPoints: [`${source}/docs/docs.ts`, `${source}/docs/docs-style.css`],
    format: 'esm',
    loader: { '.woff2': 'file' },
  }),
  build({ ...common, entryPoints: [`${source}/docs/docs-apply-stored-theme-and-language.ts`], format: 'iife' }),
]);

const files: Readonly<Record<string, string>> = {
  app: entryOf(app.metafile, 'main.tsx'),
  theme: entryOf(theme.metafile, 'apply-stored-theme.ts'),
  style: styleOf(app.metafile),
  docs: entryOf(docs.metafile, 'docs/docs.ts'),
  docsEarly: entryOf(docsEarly.metafile, 'docs/docs-apply-stored-theme-and-language.ts'),
  docsStyle: entryOf(docs.metafile, 'docs/docs-style.css'),
};
const outputs = [app, theme, docs, docsEarly].flatMap(({ metafile }) => Object.keys(metafile.outputs));
await mkdir(assets, { recursive: true });
await writeFile(join(folder, 'index.html'), await withAssets(`${source}/index.html`));
await writeFile(join(folder, 'docs.html'), await withAssets(`${source}/docs/docs.html`));
await Promise.all(
  outputs.filter((file) => /\.(?:js|css)$/.test(file)).map((file) => compress(join(assets, basename(file)))),
);
// The test of the budgets reads it.
await writeFile(join(folder, 'metafile.json'), JSON.stringify(app.metafile));

/** The server replaces the other names of a template. */
async function withAssets(template: string): Promise<string> {
  const text = await readFile(template, 'utf8');
  return text.replaceAll(/(?<=\/console\/assets\/)\{\{(\w+)\}\}/g, (_match, name: string) =>
    basename(files[name] ?? missing(name)),
  );
}

function entryOf({ outputs: made }: Metafile, name: string): string {
  const [file] = Object.entries(made).find(([, { entryPoint }]) => entryPoint === `${source}/${name}`) ?? [];
  return file ?? missing(name);
}

function styleOf({ outputs: made }: Metafile): string {
  return made[entryOf({ inputs: {}, outputs: made }, 'main.tsx')]?.cssBundle ?? missing('the style');
}

async function compress(file: string): Promise<void> {
  const content = await readFile(file);
  const brotli = await promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } });
  await writeFile(`${file}.br`, brotli);
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
}

function missing(what: string): never {
  throw new Error(`the console was built without ${what}`);
}
