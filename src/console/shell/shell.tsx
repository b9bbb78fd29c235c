import { Menu as MenuIcon } from '../ui/controls/icons.ts';
import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { Me } from '../api/contract.ts';
import { brand } from '../api/page-brand.ts';
import { Button } from '../ui/controls/button.tsx';
import { ErrorBoundary } from './error-boundary.tsx';
import { AccountBanners, OperatorBanners } from './banners/banners.tsx';
import { BrandLogo } from './brand-logo.tsx';
import { ServiceUnreachableBanner } from './banners/service-unreachable-banner.tsx';
import { shellText } from './shell-text.ts';
import { AccountSidebar, OperatorSidebar } from './sidebar.tsx';
import './shell.css';

type ShellProps = { readonly me: Me; readonly children: ComponentChildren };

export function AccountShell({ me, children }: ShellProps) {
  return (
    <Frame sidebar={<AccountSidebar me={me} />} banner={<AccountBanners me={me} />}>
      {children}
    </Frame>
  );
}

export function OperatorShell({ me, children }: ShellProps) {
  return (
    <Frame sidebar={<OperatorSidebar me={me} />} banner={<OperatorBanners me={me} />}>
      {children}
    </Frame>
  );
}

type FrameProps = Readonly<Record<'sidebar' | 'children', ComponentChildren>> & { readonly banner: ComponentChildren };

/** Sidebar and content. */
function Frame({ sidebar, banner, children }: FrameProps) {
  const [isOpen, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const announced = useNewPage(main, () => setOpen(false));
  useEffect(() => {
    if (!isOpen) return undefined;
    const press = ({ key }: KeyboardEvent) => key === 'Escape' && setOpen(false);
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [isOpen]);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {shellText.skip}
      </a>
      <p class="visually-hidden" role="status">
        {announced}
      </p>
      <div class="shell">
        <header class="topbar">
          <Button
            variant="quiet"
            size="icon"
            aria-label={shellText.menu}
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            <MenuIcon size={18} />
          </Button>
          <BrandLogo />
          <span class="title">{brand.name}</span>
        </header>
        {isOpen && (
          <button type="button" class="scrim" aria-label={shellText.closeMenu} onClick={() => setOpen(false)} />
        )}
        <aside class="sidebar" aria-label={shellText.sidebar} {...(isOpen && { 'data-open': '' })}>
          {sidebar}
        </aside>
        <div class="content">
          {banner}
          <ServiceUnreachableBanner />
          <main class="main" id="main" ref={main} tabIndex={-1}>
            <ErrorBoundary>{children}</ErrorBoundary>
          </main>
        </div>
      </div>
    </>
  );
}

/**
 * A new page begins at its top and takes the focus, as a new document would; on the way back the browser restores the position. Returns
 * the title of the page, to be read out.
 */
function useNewPage(main: RefObject<HTMLElement>, onNewPage: () => void): string {
  const [path] = useLocation();
  const lastPath = useRef(path);
  const restored = useRef<string>();
  const [announced, setAnnounced] = useState('');
  useEffect(() => {
    const pop = () => void (restored.current = location.pathname);
    addEventListener('popstate', pop);
    return () => removeEventListener('popstate', pop);
  }, []);
  useEffect(() => {
    if (lastPath.current === path) return undefined;
    lastPath.current = path;
    onNewPage();
    if (restored.current !== location.pathname) scrollTo(0, 0);
    restored.current = undefined;
    main.current?.focus({ preventScroll: true });
    // The title is the page's own, which is rendered after this.
    const timer = setTimeout(() => setAnnounced(document.title), 100);
    return () => clearTimeout(timer);
  }, [path]);
  return announced;
}
