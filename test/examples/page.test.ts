import { existsSync, writeFileSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeOn } from '../kit/suite.ts';
import { type App, started } from './program.ts';

/** Debian's; a browser is not a server of ours to install. */
const CHROMIUM = '/usr/bin/chromium';

const whereItIs = existsSync(CHROMIUM)
  ? describeOn
  : (_parts: unknown, title: string, body: () => void) => describe.skip(`${title} [no ${CHROMIUM}]`, body);

whereItIs('redis', 'the page of the scenarios', () => {
  let app: App;
  let browser: Browser;
  beforeAll(async () => {
    app = await started(['examples/page/main.ts']);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    expect(await app?.ended('SIGTERM')).toBe(0);
  });

  /** `SCREENSHOTS=<folder>`: to look at. */
  async function shot(page: Page, name: string): Promise<void> {
    const folder = process.env.SCREENSHOTS;
    if (folder) writeFileSync(`${folder}/page-${name}.png`, await page.screenshot());
  }

  /** By keyboard alone. */
  async function start(page: Page, strategy: string, things: number, people: number): Promise<void> {
    await page.selectOption('[name=choice]', { label: strategy });
    await page.fill('[name=things]', `${things}`);
    await page.fill('[name=people]', `${people}`);
    await page.focus('[name=people]');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForSelector('button:disabled');
  }

  const ended = (page: Page) => page.waitForSelector('button:enabled', { timeout: 30_000 });

  async function run(page: Page, strategy: string, things = 40, people = 80): Promise<void> {
    await start(page, strategy, things, people);
    await ended(page);
  }

  test.each([
    ['light', 1280, 800],
    ['dark', 375, 740],
  ] as const)(
    'says in words what went wrong, and shows the stock: %s, %i wide',
    { timeout: 60_000 },
    async (colorScheme, width, height) => {
      const page = await browser.newPage({ colorScheme, viewport: { width, height } });
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(error.message));
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
      await page.goto(app.url);
      await page.waitForSelector('option', { state: 'attached' });

      await run(page, 'no lock');
      expect(await page.textContent('#verdict')).toMatch(/^Wrong: \d+ orders for 40 units: \d+ too many\.$/);
      expect(await page.getAttribute('#verdict', 'class')).toBe('wrong');
      expect(await page.textContent('#hand-overs'), 'there is no lock to hand over').toBe('none');
      await shot(page, `${colorScheme}-wrong`);
      await run(page, '5 segments, under the lock');
      expect(await page.textContent('#verdict')).toBe(
        'Right: 40 orders, right to the unit: none too many, none left over.',
      );
      expect(await page.textContent('#done')).toBe('40');
      expect(await page.locator('#bars i').count()).toBe(6);
      expect(
        Number(await page.textContent('#hand-overs')),
        'most of 80 buyers waited for one of 5 locks',
      ).toBeGreaterThan(40);

      const box = await page.locator('#verdict').boundingBox();
      expect(box!.y + box!.height, 'the verdict is above the fold').toBeLessThan(height);
      expect(await page.evaluate('document.documentElement.scrollWidth'), 'no sideways scrolling').toBeLessThanOrEqual(
        width,
      );
      await shot(page, colorScheme);
      expect(errors).toEqual([]);
      await page.close();
    },
  );

  test('counts live how often the lock is handed over, and who still waits', { timeout: 60_000 }, async () => {
    const page = await browser.newPage();
    await page.goto(app.url);
    await page.waitForSelector('option', { state: 'attached' });
    await start(page, 'one lock', 200, 300);
    await page.waitForFunction("Number(document.querySelector('#hand-overs').textContent) > 0");
    expect(Number(await page.textContent('#waiting'))).toBeGreaterThan(0);
    const early = Number(await page.textContent('#hand-overs'));
    expect(await page.isDisabled('button'), 'it still runs').toBe(true);
    await shot(page, 'running');
    await ended(page);
    // All but those who found it free.
    expect(Number(await page.textContent('#hand-overs'))).toBeGreaterThan(Math.max(early, 290));
    expect(await page.textContent('#waiting')).toBe('0');
    await page.close();
  });

  test('runs the orders, too', { timeout: 60_000 }, async () => {
    const page = await browser.newPage();
    await page.goto(app.url);
    await page.waitForSelector('option', { state: 'attached' });
    await run(page, 'none: no lock at all', 8, 12);
    expect(await page.textContent('#verdict')).toMatch(
      /^Wrong: \d of 8 orders were promised to more than one driver\.$/,
    );
    await run(page, 'redis: Redis, waiters are woken', 8, 12);
    expect(await page.textContent('#verdict')).toBe('Right: each of 8 orders has exactly one driver.');
    expect(await page.textContent('#done')).toBe('8');
    expect(Number(await page.textContent('#hand-overs'))).toBeGreaterThan(8);
    await shot(page, 'orders');
    await page.close();
  });
});
