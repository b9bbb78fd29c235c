import { QueryClientProvider } from '@tanstack/preact-query';
import { render } from 'preact';
import { Router } from 'wouter-preact';
import { createQueryClient } from './api/queries.ts';
import { askForMe, forgetMe } from './api/session.ts';
import { loadPage } from './routes.tsx';
import { App } from './shell/app.tsx';
import './styles/font.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/popups.css';
import './styles/layout.css';
import './styles/tables.css';
import './styles/badges.css';
import './styles/notices.css';
import './styles/task.css';
import './styles/charts.css';
import './styles/playground.css';
import './styles/shell.css';
import 'uplot/dist/uPlot.min.css';

const client = createQueryClient(() => forgetMe(client));
const base = '/console';
loadPage(client, location.pathname.slice(base.length));
askForMe(client);
const root = document.getElementById('app');
if (root !== null) {
  render(
    <QueryClientProvider client={client}>
      <Router base={base}>
        <App />
      </Router>
    </QueryClientProvider>,
    root,
  );
}
