import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { SCENES } from '../../lab/scenes/index.ts';
import { play } from '../../lab/stage/play.ts';
import type { WayName } from '../../lab/stage/scene.ts';
import { LANGUAGES, sentence } from '../../lab/words/index.ts';
import { startBrowser } from '../kit/browser.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { describeOn } from '../kit/suite.ts';
import { PATIENCE } from '../kit/wait.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const WAYS = ['naive', 'holdfast'] as const satisfies readonly WayName[];

vi.setConfig({ testTimeout: 120_000 }); // a browser beside servers has little of two cores
const BUSY = { timeout: PATIENCE };

describeOn('browser', 'the lab', () => {
  const { path: folder } = temporaryFolder();
  let browser: Browser;
  const errors: string[] = [];

  beforeAll(async () => {
    await promisify(execFile)(process.execPath, [join(root, 'scripts/build-lab.mjs'), folder]);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    expect(errors, 'what the page complained of').toEqual([]);
  });

  /** As a file, without a server. */
  async function visit(hash: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await browser.newPage({ reducedMotion: 'reduce', viewport: { width: 1280, height: 900 }, ...options });
    page.on('pageerror', (error) => errors.push(`${hash}: ${error.message}`));
    page.on('console', (message) => message.type() === 'error' && errors.push(`${hash}: ${message.text()}`));
    await page.goto(`${pathToFileURL(join(folder, 'index.html'))}${hash}`);
    await page.waitForSelector('.story li');
    return page;
  }

  /** `SCREENSHOTS=<folder>`: to look at. */
  async function shot(page: Page, name: string): Promise<void> {
    const { SCREENSHOTS } = process.env;
    if (SCREENSHOTS) writeFileSync(join(SCREENSHOTS, `lab-${name}.png`), await page.screenshot({ fullPage: true }));
  }

  async function link(page: Page): Promise<string> {
    await page.click('.controls button:last-child');
    return page.url();
  }

  const story = (page: Page): Promise<string[]> => page.locator('.story li span:last-child').allTextContents();
  const picture = (page: Page): Promise<string> => page.locator('.picture').innerHTML();
  const said = (page: Page): Promise<string | null> => page.textContent('.now-said');

  /** What Node makes of it, from the sources. */
  async function expected(name: string, way: WayName, seed: number): Promise<string[]> {
    const scene = SCENES.find((each) => each.name === name)!;
    const several = (scene[way].engines ?? 1) > 1;
    const { happenings } = await play(scene, way, seed);
    return happenings.map((happening) => sentence(LANGUAGES.en, happening, several));
  }

  test.each(SCENES)('$name plays to its end, with its harm or without; what happens is what happens in Node', async ({
    name,
    harm,
  }) => {
    const page = await visit('#lang=en');
    await page.clock.install();
    await page.selectOption('.controls select', 'fast');
    for (const way of WAYS) {
      await page.evaluate(`location.assign('#scene=${name}&way=${way}&seed=5&lang=en')`);
      const told = await expected(name, way, 5);
      await expect.poll(() => story(page), { ...BUSY, message: way }).toEqual(told);
      await page.click('.play');
      await page.clock.runFor(told.length * 400 + 1_000);
      const verdict = way === 'naive' && harm ? 'wrong' : 'right';
      expect(await page.getAttribute('.verdict', 'class'), way).toBe(`verdict ${verdict}`);
    }
    await page.close();
  });

  test('a step back is the same as before the step, and a colleague sees the same at the same address', async () => {
    const page = await visit('#scene=stale-write&way=holdfast&seed=3&lang=en');
    const seen: (readonly [string, string | null])[] = [];
    const look = async () => [await picture(page), await said(page)] as const;
    for (let i = 0; i < 14; i++) {
      seen.push(await look());
      await page.click('.controls .step');
    }
    const there = await link(page);
    const last = await look();
    for (const before of seen.reverse()) {
      await page.click('.controls .back');
      expect(await look()).toEqual(before);
    }
    const colleague = await visit(there.slice(there.indexOf('#')));
    expect([await picture(colleague), await said(colleague)]).toEqual(last);
    await colleague.close();
    await page.close();
  });

  test('by keyboard alone: play and hold, step, begin again, the other way, the language', async () => {
    const page = await visit('#scene=robbed&way=naive&seed=1&lang=en');
    await page.keyboard.press('ArrowRight');
    expect(await said(page)).toContain('A asks for the lock.');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    expect(await said(page)).toContain('A asks for the lock.');
    await page.keyboard.press('Home');
    expect(await said(page)).toContain('Press play');
    await page.keyboard.press(' ');
    await page.waitForSelector('.play:has-text("Hold")');
    await page.keyboard.press(' ');
    await page.waitForSelector('.play:has-text("Play")');
    await page.keyboard.press('w');
    await page.waitForSelector('.ways .holdfast[aria-pressed=true]');
    await expect.poll(() => page.url(), BUSY).toContain('way=holdfast');
    // The page shows the other way at once, and its run as soon as that is made; then the run begins at its beginning.
    await expect.poll(() => story(page), BUSY).toEqual(await expected('robbed', 'holdfast', 1));
    await page.focus('.chart input');
    await page.keyboard.press('End');
    await page.waitForSelector('.verdict.right');
    await page.focus('header button');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.documentElement.lang')).toBe('zh');
    await page.waitForSelector('.verdict:has-text("结果")');
    await page.close();
  });

  test('a pause is dragged onto a holder, an answer is lost, a process is killed; all of it is in the address, and can be undone', async () => {
    const page = await visit('#scene=free&way=holdfast&seed=2&at=200&lang=en');
    const calm = await story(page);
    await page.dragAndDrop('.deed.pause', '.person.A');
    await expect.poll(() => said(page), BUSY).toContain('A is paused. It does not know.');
    expect(await link(page)).toContain('do=pause-A@200');
    await page.click('.person.B');
    await page.click('.deed.take');
    await expect.poll(() => story(page), BUSY).toContain('B asks for the lock.');
    for (let i = 0; i < 30 && !(await said(page))?.includes('B hears that it has the lock'); i++)
      await page.click('.controls .step');
    await page.click('.person.A');
    await page.click('.deed.go');
    await page.waitForSelector('.person.A:not(.paused)');
    await expect.poll(() => said(page), BUSY).toMatch(/goes on|is lost|stops/);
    await shot(page, 'own');
    const [mine, address] = [await story(page), await link(page)];
    const colleague = await visit(address.slice(address.indexOf('#')));
    expect(await story(colleague)).toEqual(mine);
    await colleague.close();
    await page.click('.yours button:last-child');
    await expect.poll(() => story(page), BUSY).toEqual(calm);

    await page.click('.controls .icon'); // from the beginning
    await page.click('.controls .step');
    await page.click('.message.A');
    await page.click('.deed.lose');
    await expect.poll(() => story(page), BUSY).toContainEqual(expect.stringContaining("A's message is lost"));
    await page.click('.person.C');
    await page.click('.deed.kill');
    await page.waitForSelector('.person.C.dead');
    await page.close();
  });

  test.each([
    ['light', 1440, 1000, 'en', 'stale-write', 'naive', 790],
    ['dark', 1280, 900, 'zh', 'split-votes', 'holdfast', 590],
    ['light', 375, 740, 'en', 'robbed', 'naive', 1_100],
    ['dark', 375, 740, 'zh', 'fail-over', 'naive', 400],
  ] as const)('fits %s, %i wide and %i high, in %s', async (colorScheme, width, height, lang, scene, way, at) => {
    const page = await visit(`#scene=${scene}&way=${way}&at=${at}&lang=${lang}`, {
      colorScheme,
      viewport: { width, height },
    });
    await shot(page, `${scene}-${colorScheme}-${width}`);
    expect(await page.evaluate('document.documentElement.scrollWidth'), 'no sideways scrolling').toBeLessThanOrEqual(
      width,
    );
    expect(await page.evaluate('document.documentElement.lang')).toBe(lang);
    const box = await page.locator('.picture').boundingBox();
    expect(box!.y, 'the picture begins above the fold').toBeLessThan(height / 2);
    // What is written on a card is not cut off.
    const cut = await page.$$eval('.card', (cards) =>
      cards.filter((card) => card.scrollHeight > card.clientHeight + 1).map((card) => card.textContent),
    );
    expect(cut).toEqual([]);
    await page.close();
  });

  test('with motion, messages fly and time goes on by itself', async () => {
    const page = await visit('#scene=spinning&way=naive&lang=en', { reducedMotion: 'no-preference' });
    await page.selectOption('.controls select', 'fast');
    await page.click('.play');
    await page.waitForSelector('.message');
    await page.waitForSelector('.story .current');
    const where = () => page.getAttribute('.chart .now', 'style');
    const before = await where();
    await expect.poll(where, BUSY).not.toBe(before);
    await page.close();
  });
});
