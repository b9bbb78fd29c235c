/** Opens the list of pages in a narrow window, and marks the part of the page that is read. */
export function startMenu(): void {
  const [button, pages] = [document.getElementById('menu'), document.getElementById('pages')];
  if (button === null || pages === null) return;
  const setOpen = (isOpen: boolean) => {
    button.setAttribute('aria-expanded', String(isOpen));
    pages.toggleAttribute('data-open', isOpen);
  };
  button.addEventListener('click', () => setOpen(button.getAttribute('aria-expanded') !== 'true'));
  pages.addEventListener('click', ({ target }) => target instanceof HTMLAnchorElement && setOpen(false));
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || button.getAttribute('aria-expanded') !== 'true') return;
    setOpen(false);
    button.focus();
  });
  followReading(pages);
}

function followReading(pages: HTMLElement): void {
  const links = new Map(
    [...pages.querySelectorAll<HTMLAnchorElement>('.outline a')].map((link) => [link.hash.slice(1), link] as const),
  );
  const headings = [...links.keys()].flatMap((id) => document.getElementById(id) ?? []);
  let current: HTMLAnchorElement | undefined;
  const observer = new IntersectionObserver(
    () => {
      // The last heading above the upper third of the window.
      const passed = headings.findLast((heading) => heading.getBoundingClientRect().top < innerHeight / 3);
      const link = links.get((passed ?? headings[0])?.id ?? '');
      if (link === current) return;
      current?.removeAttribute('aria-current');
      link?.setAttribute('aria-current', 'true');
      link?.scrollIntoView({ block: 'nearest' });
      current = link;
    },
    { rootMargin: '0px 0px -66% 0px' },
  );
  for (const heading of headings) observer.observe(heading);
}
