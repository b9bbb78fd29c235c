import './styles/font.css';
import './styles/tokens.css';
import './styles/base.css';
import { QueryClientProvider } from '@tanstack/preact-query';
import { render } from 'preact';
import { Router } from 'wouter-preact';
import { createQueryClient } from './api/read-and-send-hooks.ts';
import { prefetchMe, replaceMe } from './api/session.ts';
import { preloadArea } from './lazy-areas.tsx';
import { App } from './shell/app.tsx';

const client = createQueryClient(() => replaceMe(client, null));
const base = '/console';
preloadArea(location.pathname.slice(base.length));
prefetchMe(client);
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
