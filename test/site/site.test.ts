import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SCENES } from '../../lab/scenes/index.ts';
import { bothOf } from '../../site/both-indexes.ts';
import { titleAndSentence } from '../../site/llms.ts';
import { navigation } from '../../site/navigation.ts';
import { addressOf, chineseOf, root } from '../../site/pages.ts';
import { GENERATED } from '../../site/reference/subpaths.ts';
import type { MiniSearch } from '../../site/renderer.ts';
import { searchOptions, tokenize } from '../../site/search.ts';
import { textAddressOf } from '../../site/texts.ts';
import { startBrowser } from '../kit/browser.ts';
import { describeOn } from '../kit/suite.ts';
import { served } from './serve.ts';

const site = join(root, '.tmp', `site-${process.pid}`);
const twin = `${site}-twin`;
const read = (file: string): string => readFileSync(join(site, file), 'utf8');
const built = (pattern: string): string[] => globSync(pattern, { cwd: site }).sort();
const inNavigation = navigation.flatMap(({ pages }) => pages.map(([page]) => page));

describeOn('site', 'the site', () => {
  beforeAll(async () => {
    const vitepress = join(root, 'site/node_modules/.bin/vitepress');
    const build = (folder: string) =>
      promisify(execFile)(vitepress, ['build', 'site', '--outDir', folder], { cwd: root });
    await Promise.all([build(site), build(twin)]);
  }, 600_000);
  afterAll(() => {
    for (const folder of [site, twin]) rmSync(folder, { recursive: true, force: true });
  });

  test('two builds at once make the same pages', () => {
    const pagesIn = (folder: string) => globSync('**/*.html', { cwd: folder }).sort();
    expect(pagesIn(twin)).toEqual(pagesIn(site));
    // Of the reference only: what somebody edits meanwhile is no fault of theirs.
    for (const page of built('reference/*.html')) {
      const [one, other] = [site, twin].map(
        (folder) => /<main.*<\/main>/s.exec(readFileSync(join(folder, page), 'utf8'))?.[0],
      );
      expect(one, page).toBeDefined();
      expect(other, page).toBe(one);
    }
  });

  test('every page of the navigation is built, in both languages where it is in both, and one for each subpath of the package', () => {
    const inChinese = inNavigation.flatMap((page) => chineseOf(page) ?? []);
    const missing = [...inNavigation, ...inChinese].filter((page) => {
      const address = addressOf(page);
      return !existsSync(join(site, address.endsWith('/') ? `${address}index.html` : address));
    });
    expect(missing).toEqual([]);
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: object };
    expect(built('reference/*.html')).toHaveLength(Object.keys(exports).length - 1); // package.json has none
  });

  test('the home is a home: what it is, why, how to install it, and the lab', () => {
    for (const [home, start] of [
      ['index.html', '/start.html'],
      ['zh/index.html', '/zh/start.html'],
    ] as const) {
      const html = read(home);
      expect(html).toContain('VPHero');
      expect(html).toContain(`href="${start}"`);
      expect(html).toMatch(/href="\/lab\/"[^>]*target="_self"|target="_self"[^>]*href="\/lab\/"/);
      expect(html).toContain('holdfast-0.1.0.tgz');
    }
  });

  test('a change of language leads to the same page, or else to the front page', () => {
    expect(read('troubleshooting.html')).toContain('href="/zh/troubleshooting.html"');
    expect(read('zh/troubleshooting.html')).toContain('href="/troubleshooting.html"');
    const onlyEnglish = inNavigation.find((page) => chineseOf(page) === undefined)!;
    expect(read(addressOf(onlyEnglish))).toContain('href="/zh/"');
  });

  test('every link of the site leads to a page of it, and to a heading that is there', () => {
    const ids = new Map<string, Set<string>>();
    const idsOf = (page: string) => {
      if (!ids.has(page)) ids.set(page, new Set([...read(page).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)));
      return ids.get(page)!;
    };
    const dead = built('**/*.html').flatMap((page) =>
      [...read(page).matchAll(/<a [^>]*href="([^"]+)"/g)]
        .map(([, href]) => href!)
        .filter((href) => !/^[a-z]+:/.test(href))
        .filter((href) => {
          const [path = '', anchor] = href.split('#');
          const to = path === '' ? page : path.startsWith('/') ? path.slice(1) : posix.join(dirname(page), path);
          const file = to === '' || to.endsWith('/') ? `${to}index.html` : to;
          if (!existsSync(join(site, file))) return true;
          // What stands behind the # is read by the lab.
          const [, scene] = /^lab\/#scene=(.+)$/.exec(`${to}#${anchor}`) ?? [];
          if (scene !== undefined) return !SCENES.some(({ name }) => name === scene);
          return anchor !== undefined && anchor !== '' && !idsOf(file).has(decodeURIComponent(anchor));
        })
        .map((href) => `${page}: ${href}`),
    );
    expect(dead).toEqual([]);
  });

  test('no file of the site loads anything from elsewhere', () => {
    // What is only linked to is not loaded: an anchor's address, a name of XML, a word of the runtime's error messages.
    const loads = [
      /<(?:script|img|iframe|source|video|audio|embed|object|image|use)\b[^>]*?(?:src|srcset|href|data)=["']((?:https?:)?\/\/[^"']+)/g,
      /<link\b[^>]*?href=["']((?:https?:)?\/\/[^"']+)/g,
      /url\(["']?((?:https?:)?\/\/[^)"']+)/g,
      /@import\s+(?:url\()?["']((?:https?:)?\/\/[^"']+)/g,
      /(?:\bimport|\bfetch|importScripts|new (?:WebSocket|EventSource|Worker|Image))\s*\(\s*["'`]((?:https?|wss?):[^"'`]+)/g,
      /\bfrom\s*["'](https?:[^"']+)/g,
    ];
    const found = built('**/*.{html,css,js,svg}').flatMap((file) =>
      loads.flatMap((load) => [...read(file).matchAll(load)].map(([, host]) => `${file}: ${host}`)),
    );
    expect(found).toEqual([]);
  });

  type Index = MiniSearch<{ title: string; titles: string[] }>;

  /** A part of an index as the browser has it: the longest literal of its file. */
  async function partIn(name: string): Promise<Index> {
    const { MiniSearch } = await import('../../site/renderer.ts');
    const [file, ...others] = built(`assets/chunks/@localSearchIndex${name}.*.js`);
    expect(others).toEqual([]);
    const code = read(file!);
    // The bundler writes the text of the index as a literal of its own choice.
    const [start = ''] = /["'`]\{\\?"documentCount/.exec(code) ?? [];
    const from = code.indexOf(start);
    const [literal] = new RegExp(`^${start[0]}(?:[^${start[0]}\\\\]|\\\\[^])*${start[0]}`).exec(code.slice(from))!;
    const json = Function(`return ${literal}`)() as string;
    const options = { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'], tokenize, searchOptions };
    return MiniSearch.loadJSON(json, options);
  }
  const indexOf = async (language: 'root' | 'zh') => {
    const [first, later] = await Promise.all([partIn(language), partIn(`${language}later`)]);
    return bothOf(first, () => later);
  };

  /** What people type, in any language, and the page that the first hit has to be on. */
  const NAMES: Readonly<Record<string, string>> = {
    ElastiCache: 'troubleshooting',
    MemoryDB: 'troubleshooting',
    Upstash: 'troubleshooting',
    Bun: 'troubleshooting|redis',
    Deno: 'troubleshooting',
    PM2: 'troubleshooting',
    Vercel: 'troubleshooting',
    Lambda: 'troubleshooting',
    Supabase: 'troubleshooting',
    Neon: 'troubleshooting',
    'worker threads': 'troubleshooting|advanced',
    Docker: 'troubleshooting|production',
    cluster: 'troubleshooting|redis',
    Drizzle: 'troubleshooting|locks-in-your-transaction',
    Kubernetes: 'troubleshooting|production',
    SIGTERM: 'troubleshooting|production',
    webhook: 'troubleshooting|memo',
  };
  const WORDS: Readonly<Record<string, string>> = {
    ...NAMES,
    idempotency: 'troubleshooting|memo',
    'exactly once': 'troubleshooting|memo',
    'cache stampede': 'troubleshooting|memo',
    'thundering herd': 'troubleshooting|memo',
    'single flight': 'troubleshooting|memo',
    debounce: 'troubleshooting',
    'rate limit': 'troubleshooting|recipes',
    'grace period': 'troubleshooting|production',
    rollout: 'troubleshooting',
    PgBouncer: 'troubleshooting|postgres|comparison',
    Prisma: 'troubleshooting|recipes',
    'fake timers': 'troubleshooting|testing',
    'open handles': 'troubleshooting',
    'hot reload': 'troubleshooting',
    probes: 'troubleshooting|nestjs|production',
    Next: 'troubleshooting|frameworks',
    'clock changes': 'troubleshooting',
    DST: 'troubleshooting',
    'refresh token': 'troubleshooting|recipes|memo',
    deadlock: 'advanced|troubleshooting',
    redlock: 'redlock|comparison|troubleshooting',
    Kleppmann: 'redlock',
    lab: 'traps',
    LOCK_TIMEOUT: 'troubleshooting',
    tryAcquire: 'troubleshooting|reference|advanced',
  };
  const CHINESE_WORDS: Readonly<Record<string, string>> = {
    ...NAMES,
    缓存击穿: 'troubleshooting|memo|articles',
    幂等: 'troubleshooting|memo|articles',
    限流: 'troubleshooting|recipes',
    超卖: 'troubleshooting|selling|articles',
    秒杀: 'selling|articles',
    死锁: 'troubleshooting|articles',
    红锁: 'troubleshooting|redlock|articles',
    误删: 'articles|traps',
    看门狗: 'articles|ttl',
    可重入: 'articles',
    羊群效应: 'articles|zookeeper|etcd',
    脑裂: 'articles',
    锁超时: 'articles|ttl',
    分段锁: 'articles|selling',
    主从切换: 'articles|redis',
    连接池: 'troubleshooting|mysql|postgres',
    热重载: 'troubleshooting',
    惊群: 'troubleshooting|memo|articles|zookeeper|etcd',
    优雅退出: 'troubleshooting|production',
    滚动发布: 'troubleshooting',
    容器: 'troubleshooting|production|cli',
    无服务器: 'troubleshooting',
    假定时器: 'troubleshooting|testing',
    时钟: 'troubleshooting|ttl|redlock',
    夏令时: 'troubleshooting',
    选主: 'leading',
    命令行: 'cli',
    恰好一次: 'troubleshooting|memo',
    探针: 'troubleshooting|production',
    句柄: 'troubleshooting',
  };

  test.each([
    ['root', WORDS],
    ['zh', CHINESE_WORDS],
  ] as const)('what people type finds its page with the first hit: %s', async (language, words) => {
    const index = await indexOf(language);
    const wrong = Object.entries(words).flatMap(([query, page]) => {
      const first = index.search(query)[0]?.id;
      return new RegExp(`/(${page})[^/]*(\\.html|$|#)`).test(first ?? '') ? [] : [`${query}: ${first}`];
    });
    expect(wrong).toEqual([]);
  });

  test('a search in English finds nothing in Chinese, and one in Chinese finds what is in English only', async () => {
    const [english, chinese] = await Promise.all([indexOf('root'), indexOf('zh')]);
    expect(english.search('SIGTERM').filter(({ id }) => id.startsWith('/zh/'))).toEqual([]);
    expect(english.search('锁')).toEqual([]);
    expect(chinese.search('troubleshooting').filter(({ id }) => id.startsWith('/troubleshooting'))).toEqual([]);
    expect(chinese.search('appendfsync').length).toBeGreaterThan(0);
    expect(chinese.search('ephemeral sequential').length, 'a page that is not translated').toBeGreaterThan(0);
    const users = built('assets/chunks/*.js').filter((file) => read(file).includes('@localSearchIndexroot'));
    expect(users.map(read).join('')).toMatch(/\bzh:\s*\w+\(\(\)\s*=>/);
  });

  test('each page says in its own words what it is about, and when it was changed', () => {
    const of = (page: string) => /<meta name="description" content="([^"]*)"/.exec(read(page))![1]!;
    const pages = built('**/*.html').filter((page) => !/^(404|lab\/)/.test(page));
    const said = new Map<string, string[]>();
    for (const page of pages) said.set(of(page), [...(said.get(of(page)) ?? []), page]);
    expect([...said.values()].filter((same) => same.length > 1)).toEqual([]);
    expect(read('guides/advanced.html')).toContain('VPLastUpdated');
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(read('guides/advanced.html')).toContain(`v${version}`);
  });

  test('a Chinese reader sees which pages are in English', () => {
    const side = /<aside class="VPSidebar.*?<\/aside>/s.exec(read('zh/start.html'))![0];
    const links = [...side.matchAll(/href="(\/[^"]*)"[^>]*>(?:<!--.*?-->)?<p[^>]*>([^<]*)</g)];
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter(([, href, title]) => href!.startsWith('/zh/') === title!.includes('（英文）'))).toEqual([]);
  });

  test('every diagram is drawn when the site is built', () => {
    const sources = inNavigation.filter((page) => /^```mermaid/m.test(readFileSync(join(root, page), 'utf8')));
    expect(sources.length).toBeGreaterThan(3);
    for (const page of sources) {
      const html = read(
        addressOf(page)
          .replace(/^\//, '')
          .replace(/(^|\/)$/, '$1index.html'),
      );
      expect(html, page).toContain('<figure class="diagram"');
      expect(html, page).not.toContain('language-mermaid');
    }
  });

  test('llms.txt names every page with a title and a sentence, the generated ones too', () => {
    const text = read('llms.txt');
    const generated = globSync(`${GENERATED}/*.md`, { cwd: root });
    expect(generated).toHaveLength(built('reference/*.html').length);
    for (const page of [...inNavigation, ...generated]) {
      const { title, sentence } = titleAndSentence(page);
      expect(text).toContain(`[${title}](${textAddressOf(page)}): ${sentence}`);
      const asText = read(textAddressOf(page).slice(1));
      expect(asText, page).toContain(`# `);
      expect(asText.replace(/```.*?```/gs, ''), `${page}: pictures are words there`).not.toMatch(/<img|!\[|^!/m);
      expect(sentence, page).toMatch(/^.{15,300}$/);
    }
  });

  test('each trap that has a scene of the lab leads to it, and each scene is led to from the page of the lab', () => {
    const scenesOn = (page: string) =>
      [...read(page).matchAll(/href="\/lab\/#scene=([\w-]+)"/g)].map(([, name]) => name!);
    const names = SCENES.map(({ name }) => name);
    const traps = [...readFileSync(join(root, 'docs/guides/traps.md'), 'utf8').matchAll(/^\*\*`([\w-]+)`/gm)].map(
      ([, name]) => name!,
    );
    const withScene = traps.filter((name) => names.includes(name));
    expect(withScene.length).toBeGreaterThan(8);
    expect(scenesOn('guides/traps.html').sort()).toEqual([...names].sort());
  });

  test('a name of an export leads to the reference, once on a page', () => {
    const links = [...read('troubleshooting.html').matchAll(/<a href="(\/reference\/[^"]+)"/g)].map(
      ([, href]) => href!,
    );
    expect(links).toContain('/reference/holdfast.html#lockerror');
    expect(new Set(links).size).toBe(links.length);
  });

  describeOn(['browser'], 'in a browser', () => {
    test('no diagram scrolls sideways on the desktop', async () => {
      await using server = await served(site);
      const browser = await startBrowser();
      const wide: string[] = [];
      try {
        // 1280 is the narrowest window that shows the outline beside the text.
        for (const width of [1440, 1280]) {
          const page = await browser.newPage({ viewport: { width, height: 900 } });
          for (const address of built('**/*.html').filter((file) => read(file).includes('<figure class="diagram"'))) {
            await page.goto(`${server.url}/${address}`);
            const over = await page
              .locator('.diagram')
              .evaluateAll((all) => all.map((one) => one.scrollWidth - one.clientWidth).filter((more) => more > 0));
            wide.push(...over.map((more) => `${address} at ${width}: ${more} px`));
          }
        }
      } finally {
        await browser.close();
      }
      expect(wide).toEqual([]);
    }, 60_000);

    test('on a phone no page is wider than the window, and a row of a table is read from the top down', async () => {
      await using server = await served(site);
      const browser = await startBrowser();
      const wide: string[] = [];
      try {
        const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
        for (const address of [
          'index.html',
          'guides/advanced.html',
          'which-lock.html',
          'cli.html',
          'zh/index.html',
          'zh/troubleshooting.html',
        ]) {
          await page.goto(`${server.url}/${address}`);
          const width = await page.evaluate<number>('document.documentElement.scrollWidth');
          if (width > 390) wide.push(`${address}: ${width} px`);
          const diagrams = await page
            .locator('.diagram')
            .evaluateAll((all) => all.map((one) => one.scrollWidth - one.clientWidth).filter((more) => more > 0));
          wide.push(...diagrams.map((more) => `a diagram of ${address}: ${more} px`));
        }
        await page.goto(`${server.url}/which-lock.html`);
        const tops = await page
          .locator('.vp-doc tbody tr')
          .first()
          .locator('td')
          .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().top));
        expect(tops.length).toBeGreaterThan(1);
        expect(new Set(tops).size, 'cells beside each other').toBe(tops.length);
      } finally {
        await browser.close();
      }
      expect(wide).toEqual([]);
    }, 60_000);

    test('the search box says that it loads, finds guides before the rest is there, and then the rest', async () => {
      await using server = await served(site);
      const browser = await startBrowser();
      try {
        const page = await browser.newPage();
        const [first, later] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        await page.route(/@localSearchIndexroot\./, (route) => first.promise.then(() => route.continue()));
        await page.route(/@localSearchIndexrootlater\./, (route) => later.promise.then(() => route.continue()));
        await page.goto(`${server.url}/`, { waitUntil: 'networkidle' });
        await page.waitForFunction("'__vue_app__' in document.querySelector('#app')");
        await page.keyboard.press('Control+k');
        await page.fill('.VPLocalSearchBox input', 'RedisStockOptions');
        const said = () =>
          page.evaluate<string>(
            "getComputedStyle(document.querySelector('.VPLocalSearchBox .shell'), '::after').content",
          );
        expect(await said()).toContain('Loading');
        first.resolve();
        await page.fill('.VPLocalSearchBox input', 'appendfsync');
        await page.locator('.VPLocalSearchBox .result', { hasText: 'Redis' }).first().waitFor();
        expect(await said()).toContain('Loading');
        await page.fill('.VPLocalSearchBox input', 'RedisStockOptions');
        later.resolve();
        await page.locator('.VPLocalSearchBox .result', { hasText: 'holdfast/stock' }).first().waitFor();
        expect(await said()).not.toContain('Loading');
      } finally {
        await browser.close();
      }
    }, 60_000);

    test('the lab opens from the page of traps, at the scene of the trap, and from the top of each page', async () => {
      await using server = await served(site);
      const browser = await startBrowser();
      const wrong: string[] = [];
      try {
        const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
        page.on('pageerror', ({ message }) => wrong.push(message));
        page.on('console', (said) => said.type() === 'error' && wrong.push(said.text()));
        await page.goto(`${server.url}/guides/traps.html`, { waitUntil: 'networkidle' });
        await page.locator('.vp-doc a', { hasText: 'robbed' }).click();
        await page.waitForSelector('.story li');
        expect(page.url()).toContain('/lab/#scene=robbed');
        await page.locator('header a', { hasText: 'documentation' }).click();
        await page.waitForURL(/guides\/traps\.html$/);
        for (const [address, name] of [
          ['/', 'The lab'],
          ['/zh/', '实验室'],
        ] as const) {
          await page.goto(server.url + address, { waitUntil: 'networkidle' });
          await page.locator('.VPNavBarMenu a', { hasText: name }).click();
          await page.waitForSelector('.story li');
        }
      } finally {
        await browser.close();
      }
      expect(wrong).toEqual([]);
    }, 60_000);

    test('pages show without an error, load nothing from elsewhere, and are searched in both languages, light and dark', async () => {
      await using server = await served(site);
      const browser = await startBrowser();
      const wrong: string[] = [];
      try {
        for (const [address, colorScheme, query, answer] of [
          ['/', 'light', 'LOCK_LOST', 'The lease is lost'],
          ['/zh/', 'dark', '令牌', '隔离令牌'],
          ['/guides/advanced.html', 'dark', 'appendfsync', 'Redis'],
          ['/reference/stock.html', 'light', 'RedisStockOptions', 'holdfast/stock'],
        ] as const) {
          const page = await browser.newPage({ colorScheme });
          page.on('pageerror', ({ message }) => wrong.push(`${address}: ${message}`));
          page.on('console', (said) => said.type() === 'error' && wrong.push(`${address}: ${said.text()}`));
          page.on('request', (made) => {
            if (!made.url().startsWith(server.url) && !made.url().startsWith('data:'))
              wrong.push(`${address}: ${made.url()}`);
          });
          await page.goto(server.url + address, { waitUntil: 'networkidle' });
          await page.waitForFunction("'__vue_app__' in document.querySelector('#app')"); // until then nobody hears a key
          await page.keyboard.press('Control+k');
          await page.fill('.VPLocalSearchBox input', query);
          await page.locator('.VPLocalSearchBox .result', { hasText: answer }).first().waitFor();
          expect(await page.locator('html.dark').count()).toBe(colorScheme === 'dark' ? 1 : 0);
          await page.close();
        }
      } finally {
        await browser.close();
      }
      expect(wrong).toEqual([]);
    });
  });
});
