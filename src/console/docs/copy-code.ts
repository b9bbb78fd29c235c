const shownMs = 2_000;

/** Copies the sample that is shown. */
export function listenForCopyClicks(): void {
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('.copy') : null;
    const blocks = [...(button?.closest('.code')?.querySelectorAll('pre') ?? [])];
    const block = blocks.find(({ offsetParent }) => offsetParent !== null);
    if (button !== null && block !== undefined) void copy(block, button);
  });
}

/** The clipboard exists for https and loopback only, and may refuse: then the text is selected. */
async function copy(block: HTMLElement, button: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(block.textContent ?? '');
    button.textContent = 'Copied';
  } catch {
    getSelection()?.selectAllChildren(block);
    button.textContent = 'Selected';
  }
  setTimeout(() => {
    button.textContent = 'Copy';
  }, shownMs);
}
