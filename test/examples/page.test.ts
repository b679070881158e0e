import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { en } from '../../examples/page/app/words/en.ts';
import { draw } from '../../examples/page/picture/main.ts';
import { Rounds } from '../../examples/page/rounds.ts';
import { startBrowser } from '../kit/browser.ts';
import { missing } from '../kit/programs.ts';
import { describeOn } from '../kit/suite.ts';
import { type App, started } from './program.ts';

describeOn(['file', 'browser'], 'the page of the rushes', () => {
  let app: App;
  let browser: Browser;
  beforeAll(async () => {
    app = await started(['examples/page/main.ts']);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    expect(await app?.ended('SIGTERM')).toBe(0);
  });

  interface Opened extends AsyncDisposable {
    readonly page: Page;
  }

  /** Fails at the end if the page had an error, or loaded something from elsewhere. Without motion a round is shown at its end. */
  async function opened(options: BrowserContextOptions = {}): Promise<Opened> {
    const page = await browser.newPage({ reducedMotion: 'reduce', locale: 'en-US', ...options });
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    page.on('request', (made) => made.url().startsWith(app.url) || errors.push(`it loads ${made.url()}`));
    await page.goto(app.url);
    await shown(page);
    return {
      page,
      async [Symbol.asyncDispose]() {
        await page.close();
        expect(errors).toEqual([]);
      },
    };
  }

  /** The rounds that were asked for are there. */
  const shown = (page: Page, which = '') =>
    page.waitForSelector(`main[aria-busy=false] .side[data-side=with]${which}`, { timeout: 60_000 });

  async function choose(page: Page, group: 'scene' | 'strategy', value: string): Promise<void> {
    await page.locator(`input[name=${group}][value=${value}]`).check({ force: true });
    await shown(page, `[data-${group}=${value}]`);
  }

  const sentence = (page: Page, side: 'without' | 'with') =>
    page.locator(`[data-side=${side}] figcaption`).textContent();

  async function tallied(
    page: Page,
  ): Promise<Readonly<Record<'without' | 'with', readonly [rounds: number, wrong: number]>>> {
    const of = async (side: string) => {
      const row = page.locator(`[data-tally=${side}]`);
      return [Number(await row.getAttribute('data-rounds')), Number(await row.getAttribute('data-wrong'))] as const;
    };
    return { without: await of('without'), with: await of('with') };
  }

  /** `SCREENSHOTS=<folder>`: to look at. */
  async function shot(page: Page, name: string): Promise<void> {
    const folder = process.env.SCREENSHOTS;
    if (!folder) return;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `page-${name}.png`), await page.screenshot({ fullPage: true }));
  }

  test('without a lock every order is given more than once, with one never, ten rounds in a row', {
    timeout: 60_000,
  }, async () => {
    await using it = await opened();
    const { page } = it;
    expect(await sentence(page, 'without')).toBe('Each of 3 orders went to 6 drivers. 15 of them drive for nothing.');
    await page.getByRole('button', { name: 'Ten more rounds' }).click();
    await page.waitForSelector('[data-tally=without][data-rounds="11"]', { timeout: 40_000 });
    expect(await tallied(page)).toEqual({ without: [11, 11], with: [11, 0] });
    await shot(page, 'orders');
  });

  test('a lock inside each process gives each order to one driver of every process, every time', {
    timeout: 60_000,
  }, async () => {
    await using it = await opened();
    const { page } = it;
    await choose(page, 'strategy', 'in-process');
    await page.getByRole('button', { name: 'Ten more rounds' }).click();
    await page.waitForSelector('[data-tally=with][data-rounds="11"]', { timeout: 40_000 });
    expect(await tallied(page)).toEqual({ without: [11, 11], with: [11, 11] });
    expect(await sentence(page, 'with')).toContain('Each of 3 orders went to 3 drivers: one in each process');
  });

  test('a sale sells too many without a lock, and right to the unit in each way that is right', {
    timeout: 60_000,
  }, async () => {
    await using it = await opened({ colorScheme: 'dark' });
    const { page } = it;
    await choose(page, 'scene', 'sale');
    expect(await sentence(page, 'without')).toBe('15 buyers paid for 6 units: 9 of them get nothing.');
    for (const way of ['one-lock', 'reserve-3', 'segments-3']) {
      await choose(page, 'strategy', way);
      expect(await sentence(page, 'with'), way).toMatch(/^6 units, 6 buyers, none too many\./);
    }
    await page.getByRole('button', { name: 'Ten more rounds' }).click();
    await page.waitForSelector('[data-tally=without][data-rounds="11"]', { timeout: 40_000 });
    expect(await tallied(page)).toEqual({ without: [11, 11], with: [11, 0] });
    await shot(page, 'sale-dark');
  });

  test('a holder that wakes too late writes over the next one, unless the row checks its token', {
    timeout: 60_000,
  }, async () => {
    await using it = await opened();
    const { page } = it;
    await choose(page, 'scene', 'paused');
    expect(await sentence(page, 'without')).toContain('wrote over driver 2');
    expect(await sentence(page, 'with')).toContain('the row refused it');
    expect(await page.locator('[data-side=with] .refusal').textContent()).toMatch(/^token \d+ refused$/);
    expect(await page.locator('[data-side=without] .refusal').count()).toBe(0);
    await shot(page, 'late-write');
  });

  test('is played, stopped and gone through by keyboard', { timeout: 60_000 }, async () => {
    await using it = await opened({ reducedMotion: 'no-preference' });
    const { page } = it;
    await page.waitForFunction('document.querySelector("input[type=range]").valueAsNumber > 0');
    expect(await page.locator('.mark').count(), 'no verdict before the end').toBe(0);
    await page.getByRole('button', { name: 'Pause' }).focus();
    await page.keyboard.press('Enter');
    const time = page.getByRole('slider', { name: 'Time' });
    await time.focus();
    await page.keyboard.press('Home');
    expect(await page.locator('.person.home').count(), 'nobody has tapped').toBe(36);
    await page.keyboard.press('End');
    expect(await page.locator('[data-side=without] .person.wrong').count()).toBe(15);
    expect(await page.locator('[data-side=with] .person.wrong').count()).toBe(0);
    await page.getByRole('button', { name: 'One step back' }).focus();
    await page.keyboard.press('Enter');
    expect(await page.locator('.mark').count(), 'one step before the end').toBe(0);
  });

  test('loads nothing from elsewhere, and starts nothing for a page of another name', async () => {
    const { headers } = await fetch(app.url);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'/);
    const asked = await new Promise<number | undefined>((resolve, reject) => {
      const options = { method: 'POST', headers: { host: 'elsewhere.example', 'content-type': 'application/json' } };
      request(`${app.url}/rounds`, options, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end('{}');
    });
    expect(asked).toBe(403);
  });

  test.each([
    ['en-US', 'Who gets it?', 'light', 'sale'],
    ['zh-CN', '到底归谁？', 'dark', 'paused'],
  ] as const)(
    'is whole on a phone, in the language of the browser: %s',
    { timeout: 60_000 },
    async (locale, title, colorScheme, scene) => {
      await using it = await opened({ locale, colorScheme, viewport: { width: 360, height: 740 }, hasTouch: true });
      const { page } = it;
      expect(await page.textContent('h1')).toBe(title);
      expect(await page.getAttribute('html', 'lang')).toBe(locale.startsWith('zh') ? 'zh-Hans' : 'en');
      for (const each of ['orders', scene]) {
        await choose(page, 'scene', each);
        expect(await page.evaluate('document.documentElement.scrollWidth'), `${each}: no sideways scrolling`).toBe(360);
        await shot(page, `phone-${each}-${locale}`);
      }
      const other = locale === 'zh-CN' ? 'English' : '中文';
      await page.getByText(other, { exact: true }).click();
      expect(await page.textContent('h1')).not.toBe(title);
    },
  );
});

test.runIf(!missing('browser'))('an engine inside one process, and a wrong port, are refused with a word', async () => {
  await expect(started(['examples/page/main.ts', '--url', 'memory:'])).rejects.toThrow(
    'name an engine that processes share',
  );
  await expect(started(['examples/page/main.ts', '--port', 'x'])).rejects.toThrow('it must be a whole number');
});

test('the moving picture of a round is one file that loads nothing, small enough for a README', async () => {
  await using rounds = new Rounds();
  const picture = draw(await rounds.play({ scene: 'orders', strategy: 'url' }), en);
  expect(picture.length).toBeLessThan(300_000);
  expect(picture.match(/<g [^>]*><use href="#car"\/>/g), 'a car for each driver of both sides').toHaveLength(36);
  expect(picture).toContain('Each of 3 orders went to 6 drivers.');
  expect(picture.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|<script|url\(/);
});
