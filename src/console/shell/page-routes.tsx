import type { FunctionComponent } from 'preact';
import { Route, Switch } from 'wouter-preact';
import type { PageDeclaration } from '../pages.ts';
import { areaRoot } from '../paths.ts';
import { DefaultPageTitleContext } from '../ui/page-card-facts-and-tiles.tsx';
import { NotFound } from './page-states.tsx';
import { Shortcuts } from './keyboard/shortcuts.tsx';

type RoutesProps = {
  /** Undefined for the area of operators. */
  readonly account: string | undefined;
  readonly declared: Readonly<Record<string, PageDeclaration>>;
  readonly pages: Readonly<Record<string, FunctionComponent>>;
  /** The page of one thing, below the page that lists these things. */
  readonly details: Readonly<Record<string, FunctionComponent<{ readonly id: string }>>>;
};

/** The pages of an area, each at its declared address, and the shortcuts between them. */
export function PageRoutes({ account, declared, pages, details }: RoutesProps) {
  return (
    <>
      <Switch>
        {Object.entries(declared).flatMap(([name, { path, title }]) => {
          const [Page, Detail] = [pages[name], details[name]];
          const address = `${areaRoot(account)}${path}`;
          return [
            Page !== undefined && (
              <Route key={address} path={address}>
                <DefaultPageTitleContext.Provider value={title}>
                  <Page />
                </DefaultPageTitleContext.Provider>
              </Route>
            ),
            Detail !== undefined && (
              <Route key={`${address}/:id`} path={`${address}/:id`}>
                {({ id }) => <Detail key={id} id={id} />}
              </Route>
            ),
          ];
        })}
        <Route component={NotFound} />
      </Switch>
      <Shortcuts />
    </>
  );
}
