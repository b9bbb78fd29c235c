import { build } from 'esbuild';

type Paths = Readonly<Record<string, string>>;
type Declared = Readonly<Record<string, { readonly path: string }>>;

const { outputFiles } = await build({
  entryPoints: ['src/console/pages.ts'],
  bundle: true,
  format: 'esm',
  write: false,
  logLevel: 'warning',
});
// The types of the console require those of a browser, so they are not imported: this is the part of them that is needed here.
const declared = (await import(`data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`)) as {
  readonly accountPages: Declared;
  readonly operatorPages: Declared;
};

/** The pages of an account, below its address. */
export const accountPages: Paths = {
  ...Object.fromEntries(Object.entries(declared.accountPages).map(([name, { path }]) => [name, path])),
  purchases: '/credits?tab=purchases',
  statements: '/credits?tab=statements',
};

/** The pages of operators. */
export const operatorPages: Paths = {
  ...Object.fromEntries(
    Object.entries(declared.operatorPages).map(([name, { path }]) => [`ops-${name}`, `/ops${path}`]),
  ),
  'ops-events': '/ops/people?tab=events',
};
