/** Opens the list of pages in a narrow window, and marks the part of the page that is read. */
export function startMenuAndOutline(): void {
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
  // The content of an endpoint below the window has no layout yet, so its section is observed.
  const parts = new Map(
    [...links].flatMap(([id, link]) => {
      const heading = document.getElementById(id);
      return heading === null ? [] : [[heading.closest('.operation') ?? heading, link] as const];
    }),
  );
  let current: HTMLAnchorElement | undefined;
  const observer = new IntersectionObserver(
    () => {
      const inOrder = [...parts.keys()];
      // The last part that begins above the upper third of the window.
      const passed = inOrder.findLast((part) => part.getBoundingClientRect().top < innerHeight / 3) ?? inOrder[0];
      const link = passed && parts.get(passed);
      if (link === current) return;
      current?.removeAttribute('aria-current');
      link?.setAttribute('aria-current', 'true');
      link?.scrollIntoView({ block: 'nearest' });
      current = link;
    },
    { rootMargin: '0px 0px -66% 0px' },
  );
  for (const part of parts.keys()) observer.observe(part);
}
