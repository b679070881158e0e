import { type Browser, chromium } from 'playwright-core';
import { program } from './programs.ts';

/** A real browser without a window. A container has often no sandbox to give, and the pages are ours. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: program('browser', 'chromium'), args: ['--no-sandbox'] });
