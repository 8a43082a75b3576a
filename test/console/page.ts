import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** The rules whose outcome depends on the theme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Fails if a part of the page is inaccessible to a screen reader or hard to see, in either theme.
 *
 * @param foreign a selector of elements that another project renders.
 */
export async function assertAccessible(page: Page, foreign?: string): Promise<void> {
  // A reload of the page loses the script.
  if (await page.evaluate(() => !('axe' in window))) await page.evaluate(axe.source);
  for (const [colorScheme, rules] of [
    ['light', undefined],
    ['dark', COLOUR_RULES],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const violations = await page.evaluate(
      async ({ exclude, runOnly }) => {
        const { violations } = await window.axe.run(exclude ? { exclude } : document, {
          resultTypes: ['violations'],
          ...(runOnly && { runOnly }),
        });
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html)}`);
      },
      { exclude: foreign, runOnly: rules },
    );
    expect(violations, `${page.url()}, ${colorScheme}`).toEqual([]);
  }
}

/** Fails if the page or one of its bars is larger than its window. Only parts of the page may scroll. */
export async function assertFits(page: Page): Promise<void> {
  const widths = [360, 1024, 1600];
  const before = page.viewportSize();
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    // Parts that choose their layout by a script follow the window a moment later.
    await expect
      .poll(
        () =>
          page.evaluate(() => {
            const { scrollWidth, scrollHeight } = document.documentElement;
            const bars = document.querySelectorAll(':is(.top-bar, .screen-bar) :is(a, button)');
            const edges = [...bars].map((part) => part.getBoundingClientRect().right);
            const widest = Math.max(scrollWidth, ...edges);
            return [Math.ceil(widest) - innerWidth, scrollHeight - innerHeight];
          }),
        { message: `${page.url()}, ${width}` },
      )
      .toEqual([0, 0]);
  }
  if (before) await page.setViewportSize(before);
}

/** Checks a screen whose address names the environment `mars`, and chooses production there. */
export async function assertWrongEnvironment(page: Page): Promise<void> {
  const fault = page.getByRole('alert').getByRole('listitem');
  await expect
    .poll(() => fault.textContent())
    .toBe('environment “mars” is not one of production, staging. Production is selected.');
  await assertAccessible(page);
  await assertFits(page);
  await page.getByRole('button', { name: 'Production' }).click();
  await fault.waitFor({ state: 'detached' });
}

declare global {
  interface Window {
    axe: typeof axe;
  }
}
