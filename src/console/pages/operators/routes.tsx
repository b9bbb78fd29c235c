import { Route, Switch } from 'wouter-preact';
import { opsPaths } from '../../paths.ts';
import { NotFound } from '../../shell/page-states.tsx';
import { Page } from '../../ui/page.tsx';

/** Every page of the operators; loaded when one of them is opened. */
export function OperatorRoutes() {
  return (
    <Switch>
      <Route path={opsPaths.overview}>
        <Page title="Operate">{null}</Page>
      </Route>
      <Route component={NotFound} />
    </Switch>
  );
}
