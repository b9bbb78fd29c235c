/** Without input for this long, the page only polls. */
const usedMs = 60_000;
let lastUse = Date.now();

for (const event of ['pointerdown', 'keydown'] as const) {
  addEventListener(event, () => (lastUse = Date.now()), { capture: true, passive: true });
}

export function hadRecentInput(): boolean {
  return Date.now() - lastUse < usedMs;
}
