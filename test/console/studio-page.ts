import type { Locator, Page } from 'playwright-core';

/** The address of a bot's Studio. */
export function studioOf(bot: string, search = ''): string {
  return `/bots/${bot}/studio${search}`;
}

/** The text field of the editor. */
export function editorOf(page: Page): Locator {
  return page.getByRole('textbox', { name: 'Definition' });
}

/** The text of the editor, as far as it is laid out: a short one is whole. */
export async function textOf(page: Page): Promise<string> {
  const lines = await editorOf(page).locator('.cm-line').allTextContents();
  return lines.join('\n');
}

/** Puts a text in place of the whole one, as a paste does. */
export async function write(page: Page, text: string): Promise<void> {
  await editorOf(page).focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

/** Pastes a text in place of the selection. */
export async function paste(page: Page, text: string): Promise<void> {
  await editorOf(page).evaluate((editor, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', text);
    editor.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
  }, text);
}

/** Moves the cursor behind the first occurrence of a text in a line. */
export async function putCursor(page: Page, line: number, text: string): Promise<void> {
  await editorOf(page).focus();
  await page.keyboard.press('Control+Home');
  for (let at = 1; at < line; at += 1) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Home');
  await page.keyboard.press('Home');
  const lines = await editorOf(page).locator('.cm-line').allTextContents();
  const before = lines[line - 1] ?? '';
  for (let at = 0; at < before.indexOf(text) + text.length; at += 1)
    await page.keyboard.press('ArrowRight');
}
