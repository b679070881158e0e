import { writeFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { Desk, type Shell } from '../cli/shell.ts';
import { startBrowser } from '../kit/browser.ts';
import { until } from '../kit/wait.ts';

/** `holdfast ui` as a process, and the address that it printed. */
export class Site implements AsyncDisposable {
  readonly shell: Shell;
  readonly #desk: Desk;
  url = '';

  private constructor(desk: Desk, args: readonly string[]) {
    this.#desk = desk;
    this.shell = desk.start('ui', ...args);
  }

  /** The page looks every second unless `args` say otherwise. By default, one slow first look on a busy machine makes a pause of a minute. */
  static async start(url: string, ...args: readonly string[]): Promise<Site> {
    const site = new Site(new Desk({ HOLDFAST_URL: url }), ['--every', '1s', ...args]);
    try {
      await site.shell.prints(/^It shows .*\n/m, 20_000);
      site.url = /http:\S+/.exec(site.shell.stdout)![0];
      return site;
    } catch (error) {
      await site[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shell[Symbol.asyncDispose]();
    this.#desk[Symbol.dispose]();
  }
}

/** One browser; each page of it in a context of its own. */
export class Windows implements AsyncDisposable {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async open(): Promise<Windows> {
    return new Windows(await startBrowser());
  }

  async page(url: string, options: BrowserContextOptions = {}): Promise<Window> {
    const context = await this.#browser.newContext({ locale: 'en-US', ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    const window = new Window(page);
    await page.goto(url);
    return window;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#browser.close();
  }
}

/** A page, and what its scripts complained of. */
export class Window implements AsyncDisposable {
  readonly page: Page;
  readonly complaints: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => message.type() === 'error' && this.complaints.push(message.text()));
    page.on('dialog', (dialog) => {
      this.complaints.push(`a dialog said ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  /** The row of a key. */
  row(key: string) {
    return this.page.locator('tbody tr').filter({ has: this.page.getByText(key, { exact: true }) });
  }

  /** By the debugger: what the page itself waits for by text, its policy forbids. */
  async until(expression: string): Promise<void> {
    await until(expression, () => this.page.evaluate<boolean>(expression));
  }

  /** `SCREENSHOTS=<folder>`: to look at. */
  async shot(name: string): Promise<void> {
    const folder = process.env.SCREENSHOTS;
    if (folder) writeFileSync(`${folder}/ui-${name}.png`, await this.page.screenshot());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.page.context().close();
  }
}
