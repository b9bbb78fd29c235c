import { build, type Metafile } from 'esbuild';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

// A step of build.mjs: writes dist/console/index.html and its files in dist/console/assets, each also compressed. Their names contain a
// hash of the content, so browsers cache them forever.
const folder = fileURLToPath(new URL('../console', import.meta.url));
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

const [app, theme] = await Promise.all([
  build({
    ...common,
    entryPoints: [`${source}/main.tsx`],
    inject: [`${source}/shared.ts`],
    format: 'esm',
    splitting: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.woff2': 'file' },
  }),
  // Runs before the first paint, so it is no module.
  build({ ...common, entryPoints: [`${source}/theme.ts`], format: 'iife' }),
]);

const template = await readFile(`${source}/index.html`, 'utf8');
const files: Readonly<Record<string, string>> = {
  app: entryOf(app.metafile, 'main.tsx'),
  theme: entryOf(theme.metafile, 'theme.ts'),
  shared: sharedOf(app.metafile),
  style: styleOf(app.metafile),
};
const html = template.replaceAll(/\{\{(\w+)\}\}/g, (_match, name: string) => basename(files[name] ?? missing(name)));
const outputs = Object.keys({ ...app.metafile.outputs, ...theme.metafile.outputs });
await mkdir(assets, { recursive: true });
await writeFile(join(folder, 'index.html'), html);
await Promise.all(
  outputs.filter((file) => /\.(?:js|css)$/.test(file)).map((file) => compress(join(assets, basename(file)))),
);
// The test of the budgets reads it.
await writeFile(join(folder, 'metafile.json'), JSON.stringify(app.metafile));

function entryOf({ outputs: made }: Metafile, name: string): string {
  const [file] = Object.entries(made).find(([, { entryPoint }]) => entryPoint === `${source}/${name}`) ?? [];
  return file ?? missing(name);
}

function styleOf({ outputs: made }: Metafile): string {
  return made[entryOf({ inputs: {}, outputs: made }, 'main.tsx')]?.cssBundle ?? missing('the style');
}

function sharedOf({ outputs: made }: Metafile): string {
  const entry = made[entryOf({ inputs: {}, outputs: made }, 'main.tsx')];
  const [shared, ...more] = (entry?.imports ?? []).filter(({ kind }) => kind === 'import-statement');
  if (more.length > 0)
    throw new Error('the entry of the console loads more than one chunk; name what they share in shared.ts');
  return shared?.path ?? missing('the shared chunk');
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
