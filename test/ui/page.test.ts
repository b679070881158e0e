import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect/index.ts';
import type { Lease, Locks } from '../../src/index.ts';
import { startEtcd } from '../kit/etcd.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { startPostgres } from '../kit/postgres.ts';
import { startRedis } from '../kit/redis.ts';
import type { Server } from '../kit/server.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { Site, Windows } from './site.ts';

describeOn('browser', 'the page', () => {
  let windows: Windows;
  beforeAll(async () => {
    windows = await Windows.open();
  });
  afterAll(() => windows?.[Symbol.asyncDispose]());

  const folder = temporaryFolder();
  afterAll(() => folder[Symbol.dispose]());
  let files = 0;
  const newFile = (): string => `file:${folder.path}/${++files}.db`;

  /** Somebody who holds, and others who wait behind, in this order. */
  async function line(
    url: string,
    key: string,
    labels: readonly string[],
  ): Promise<AsyncDisposable & { holder: Lease }> {
    await using opened = new AsyncDisposableStack();
    let holder: Lease | undefined;
    for (const [i, label] of labels.entries()) {
      const locks = opened.use(await connect(url, { label }));
      if (i === 0) holder = await locks.mutex(key).acquire();
      else {
        locks
          .mutex(key)
          .acquire()
          .catch(() => {}); // closed in the end
        await until(`${label} waits`, async () => (await count(locks, key)) === i + 1);
      }
    }
    const all = opened.move();
    return { holder: holder!, [Symbol.asyncDispose]: () => all.disposeAsync() };
  }

  async function count(locks: Locks, key: string): Promise<number> {
    let found = 0;
    for await (const _ of locks.inspect(key, { exact: true })) found++;
    return found;
  }

  const STARTS = {
    file: async () => undefined,
    redis: startRedis,
    postgres: startPostgres,
    etcd: startEtcd,
  } satisfies Record<string, () => Promise<Server | undefined>>;

  describe.each(Object.keys(STARTS) as (keyof typeof STARTS)[])('of a contested %s', (engine) => {
    describeOn(engine, 'engine', () => {
      test('shows who holds and who waits, in order, and a hand-over when it comes', { timeout: 60_000 }, async () => {
        await using server = await STARTS[engine]();
        const url = server?.url ?? newFile();
        await using contest = await line(url, 'order:42', ['web-1 first', 'web-2 second', 'web-3 third']);
        await using site = await Site.start(url);
        await using window = await windows.page(`${site.url}?key=order:42&line=order:42&graph=1`);
        const { page } = window;
        await page.waitForSelector('.people li:nth-child(2)');
        expect(await window.row('order:42').innerText()).toMatch(/web-1 first[\s\S]*\b2\b/);
        expect(await page.locator('.people .name').allInnerTexts()).toEqual([
          'web-1 first',
          'web-2 second',
          'web-3 third',
        ]);
        expect(await page.innerText('.figures .waiting dd')).toBe('2');
        expect(await page.innerText('.groups .group')).toMatch(/order:\s*1\s*2 waiting/);
        expect(await page.locator('.picture .node.process').count(), 'who waits for whom').toBe(3);
        await contest.holder.release();
        await page.waitForSelector('.events li >> text=web-2 second got it from web-1 first');
        await page.waitForSelector('.people .holder >> text=web-2 second');
        expect(await page.locator('.lanes rect.hold').count(), 'two holds on the line over time').toBe(2);
        await window.shot(engine);
        expect(window.complaints).toEqual([]);
      });
    });
  });

  describe('of a file', () => {
    let locks: Locks;
    let url: string;
    let site: Site;
    beforeAll(async () => {
      url = newFile();
      locks = await connect(url, { label: 'web-1' });
      site = await Site.start(url);
    });
    afterAll(async () => {
      await site?.[Symbol.asyncDispose]();
      await locks?.close();
    });

    test('what others named their keys and labels is text, and nothing else', async () => {
      const hostile = '<img src=x onerror=alert(1)>"\'&\u202e\u0007{}*/../';
      await using _a = await locks.mutex(hostile, { label: '</script><script>alert(2)</script>\n\u001b[2J' }).acquire();
      await using _b = await locks.mutex('__proto__').acquire();
      await using window = await windows.page(`${site.url}?${new URLSearchParams({ key: hostile, line: hostile })}`);
      const { page } = window;
      await page.waitForSelector('.people li');
      expect(await page.innerText('.detail-of-key h2')).toBe('<img src=x onerror=alert(1)>"\'&\\u202e\\u0007{}*/../');
      expect(await page.innerText('.people .name')).toBe('</script><script>alert(2)</script>\\u000a\\u001b[2J');
      expect(await page.locator('img, script:not([src])').count()).toBe(0);
      expect(await window.row('__proto__').count()).toBe(1);
      await window.row('__proto__').locator('a').click();
      await window.until("document.querySelector('.detail-of-key h2').textContent === '__proto__'");
      await page.goBack();
      await window.until("document.querySelector('.detail-of-key h2').textContent.startsWith('<img')");
      expect(window.complaints).toEqual([]);
    });

    test('the state of a memo is shown, in the language of the reader, and not what it keeps', async () => {
      const memo = locks.memo<string>('prices', { keep: '1h', attempts: 1 });
      const { token } = await memo.run(() => 'a secret word');
      const address = `${site.url}?key=prices`;
      await using window = await windows.page(address);
      await window.page.waitForSelector(`.memo >> text=Memo: a result is kept · token ${token} · for`);
      await using chinese = await windows.page(address, { locale: 'zh-CN' });
      await chinese.page.waitForSelector('.memo >> text=备忘：已保存结果');
      expect(await window.page.content()).not.toContain('secret');
      await memo.forget();
      await memo.run(() => Promise.reject(new Error('a secret word'))).catch(() => {});
      await window.page.waitForSelector('.memo >> text=Memo: poisoned, nobody begins');
      expect(await window.page.content()).not.toContain('secret');
      expect(window.complaints).toEqual([]);
    });

    test('its policy lets nothing run or load that is not its own', async () => {
      await using window = await windows.page(site.url);
      const { page } = window;
      await page.waitForSelector('.figures');
      const ran = await page.evaluate(`(async () => {
        const script = document.createElement('script');
        try { script.textContent = 'window.ran = true'; document.body.append(script); } catch {}
        const loaded = await fetch('http://127.0.0.1:9/').then(() => true, () => false);
        return { ran: window.ran === true, loaded };
      })()`);
      expect(ran).toEqual({ ran: false, loaded: false });
      expect(window.complaints.join()).toContain('Content Security Policy');
    });

    test('is used by the keyboard alone, and its address has what is shown', async () => {
      await using _a = await locks.mutex('job:a').acquire();
      await using _b = await locks.mutex('job:b').acquire();
      await using _c = await locks.mutex('other').acquire();
      await using window = await windows.page(site.url);
      const { page } = window;
      await window.row('other').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('job:');
      await window.row('other').waitFor({ state: 'detached' });
      await page.keyboard.press('Tab');
      await page.keyboard.press('j');
      await page.keyboard.press('j');
      const key = await page.evaluate('document.activeElement.dataset.key');
      expect(key).toMatch(/^job:[ab]$/);
      await page.keyboard.press('Enter');
      await page.waitForSelector('.people li');
      await page.keyboard.press('t');
      await page.waitForSelector('.lanes li');
      expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ q: 'job:', key, line: key });
      await using again = await windows.page(page.url());
      await again.page.waitForSelector('.lanes li');
      expect(await again.page.inputValue('#search')).toBe('job:');
      await page.keyboard.press('Escape');
      await page.waitForSelector('.detail-of-key', { state: 'detached' });
      await page.keyboard.press('?');
      await page.waitForSelector('dialog[open] .keyboard');
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', { state: 'detached' });
      expect(window.complaints).toEqual([]);
    });

    test('an arrow of the picture runs through nobody who has nothing to do with it', async () => {
      const others = await Promise.all(['web-2', 'web-3'].map((label) => connect(url, { label })));
      await using _ = {
        [Symbol.asyncDispose]: async () => void (await Promise.all(others.map((each) => each.close()))),
      };
      const [two, three] = others as [Locks, Locks];
      const waits = async (who: Locks, key: string, line: number): Promise<void> => {
        who
          .mutex(key)
          .acquire()
          .catch(() => {}); // closed in the end
        await until(`somebody waits for ${key}`, async () => (await count(who, key)) === line);
      };
      await using _one = await locks.mutex('way:1').acquire();
      await using _two = await two.mutex('way:2').acquire();
      await waits(two, 'way:1', 2);
      await waits(three, 'way:2', 2);
      await waits(three, 'way:1', 3); // past web-2 and its key
      await using window = await windows.page(`${site.url}?graph=1`);
      await window.until("document.querySelectorAll('.picture .edge').length === 5");
      await window.shot('arrows');
      const met = await window.page.evaluate<string[]>(`(() => {
        const boxes = [...document.querySelectorAll('.picture .node')].map((node) => ({ node, box: node.querySelector('rect').getBBox() }));
        return [...document.querySelectorAll('.picture .edge')].flatMap((edge) => {
          const points = Array.from({ length: 101 }, (_, i) => edge.getPointAtLength((edge.getTotalLength() * i) / 100));
          return boxes
            .filter(({ box }) => points.some(({ x, y }) => x > box.x + 1 && x < box.x + box.width - 1 && y > box.y && y < box.y + box.height))
            .map(({ node }) => node.textContent);
        });
      })()`);
      expect(met, 'nodes that an arrow runs through').toEqual([]);
    });

    test('fits a phone, in the dark, and speaks Chinese where the browser does', async () => {
      await using _ = await locks.mutex('order:7').acquire();
      const options = { viewport: { width: 375, height: 740 }, colorScheme: 'dark', locale: 'zh-CN' } as const;
      await using window = await windows.page(`${site.url}?key=order:7&line=order:7`, options);
      const { page } = window;
      await page.waitForSelector('.people li');
      expect(await page.innerText('.figures .keys dt')).toBe('键');
      expect(await page.getAttribute('html', 'lang')).toBe('zh-Hans');
      expect(await page.evaluate('document.documentElement.scrollWidth'), 'no sideways scrolling').toBe(375);
      const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(ground).toBe('rgb(17, 22, 28)');
      const box = await page.locator('.detail-of-key h2').boundingBox();
      expect(box!.y, 'what was asked for is above the fold').toBeLessThan(500);
      await window.shot('phone');
      await page.click('button[lang=en]');
      await window.until("document.querySelector('.figures .keys dt').textContent === 'Keys'");
      expect(page.url()).toContain('lang=en');
    });

    test('says what is wrong when nothing is held', async () => {
      const empty = newFile();
      await using site = await Site.start(empty);
      await using window = await windows.page(site.url);
      await window.page.waitForSelector('text=Nobody holds or waits for anything here.');
      await window.shot('empty');
    });

    test('a release says whom it evicts, wants a reason, and evicts that one alone', async () => {
      await using contest = await line(url, 'stuck', ['hung', 'next']);
      await using site = await Site.start(url, '--allow-release'); // not the one of the others
      await using window = await windows.page(`${site.url}?key=stuck`);
      const { page } = window;
      await page.click('.people button.danger');
      const dialog = page.locator('dialog[open]');
      await dialog.waitFor();
      expect(await dialog.innerText()).toMatch(/Evict the holder of stuck\?[\s\S]*Evicted is\s+hung[\s\S]*Token\s+\d+/);
      await window.shot('release');
      await page.keyboard.press('Enter');
      expect(await dialog.isVisible(), 'without a reason nothing is sent').toBe(true);
      await page.fill('[name=reason]', 'it hangs since noon');
      await page.keyboard.press('Enter');
      await page.waitForSelector('.band >> text=hung was evicted.');
      await page.waitForSelector('.people .holder >> text=next');
      await page.waitForSelector('.losses li.bad >> text=hung was evicted');
      expect(site.shell.stdout).toMatch(/evicted the holder of "stuck" with token \d+: it hangs since noon/);
      await until(
        'the holder is told',
        async () => !(await contest.holder.extend(1_000).catch(() => false)) && !contest.holder.held,
      );
      expect(window.complaints).toEqual([]);
    });

    test('without --allow-release it shows no way to, and has none', async () => {
      await using _ = await locks.mutex('kept').acquire();
      await using window = await windows.page(`${site.url}?key=kept`);
      const { page } = window;
      await page.waitForSelector('.people li');
      expect(await page.locator('button.danger').count()).toBe(0);
      expect(await page.innerText('.hint')).toContain("holdfast release --force --reason '…' 'kept'");
      const status =
        await page.evaluate(`fetch('release', { method: 'POST', headers: { 'Content-Type': 'application/json' },
        body: '{"key":"kept","token":"1","reason":"x"}' }).then(({ status }) => status)`);
      expect(status).toBe(403);
    });
  });

  describeOn('redis', 'of a Redis', () => {
    test('a dead engine is told, with the age of what is shown, and heals by itself', { timeout: 60_000 }, async () => {
      await using server = await startRedis({ appendonly: 'yes', appendfsync: 'always' });
      await using locks = await connect(server.url);
      await locks.mutex('order:1', { ttl: '10m', label: 'web-1' }).acquire();
      await using site = await Site.start(server.url);
      await using window = await windows.page(site.url);
      const { page } = window;
      await window.row('order:1').waitFor();
      await server.kill();
      await page.waitForSelector('.band.bad >> text=/The engine has not answered for .*What you see is .* old/');
      expect(await window.row('order:1').count(), 'what was known is still there').toBe(1);
      await window.shot('dead');
      await server.restart();
      await page.waitForSelector('.band.bad', { state: 'detached' });
      await page.waitForSelector('.pulse.good');
      expect(await window.row('order:1').innerText()).toContain('web-1');
    });

    test('an engine that is away at the start gives a page that says so, and fills it later', {
      timeout: 60_000,
    }, async () => {
      await using server = await startRedis();
      await server.kill();
      await using site = await Site.start(server.url);
      await using window = await windows.page(site.url);
      const { page } = window;
      await page.waitForSelector('.band.bad >> text=/does not answer/');
      expect(await page.innerText('.pulse')).toBe('connecting');
      expect(await page.locator('.figures, .events').count(), 'what nobody knows is not told as nothing').toBe(0);
      await window.shot('never');
      await server.restart();
      await page.waitForSelector('text=Nobody holds or waits for anything here.', { timeout: 30_000 });
      await page.waitForSelector('.figures');
    });

    test('a deadlock over two processes stands at the top, and is gone when it is', { timeout: 60_000 }, async () => {
      await using server = await startRedis();
      await using one = await connect(server.url, { label: 'refund' });
      await using two = await connect(server.url, { label: 'invoice' });
      const gaveUp = new AbortController();
      const both = Promise.withResolvers<void>();
      let holding = 0;
      const nested = (locks: Locks, first: string, second: string, signal?: AbortSignal) =>
        locks.mutex(first).run(async () => {
          if (++holding === 2) both.resolve();
          await both.promise;
          await locks.mutex(second).run(() => {}, { signal });
        });
      const ends = [nested(one, 'a', 'b'), nested(two, 'b', 'a', gaveUp.signal).catch(() => {})];
      await using site = await Site.start(server.url, '--allow-release');
      await using window = await windows.page(site.url);
      const { page } = window;
      await page.waitForSelector('.deadlocks >> text=these wait for each other');
      const told = await page.innerText('.deadlocks li');
      for (const part of ['refund waits for b', 'invoice waits for a', 'held by refund', 'held by invoice'])
        expect(told.replaceAll(/\s+/g, ' ')).toContain(part);
      await page.click('.deadlocks button >> text=Evict');
      await page.waitForSelector('dialog >> text=Evict the holder of');
      await page.click('dialog >> text=Cancel');
      expect(await page.locator('.picture .stuck').count(), 'in the picture, too').toBe(4);
      await window.shot('deadlock');
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await window.shot(`deadlock-${width}`);
        expect(await page.evaluate('document.documentElement.scrollWidth'), `of a page ${width} px wide`).toBe(width);
        const ring = await page.evaluate<number>("document.querySelector('.picture').getBoundingClientRect().top");
        expect(ring, `px from the top to the ring, ${width} px wide`).toBeLessThan(600);
      }
      gaveUp.abort();
      await Promise.all(ends);
      await page.waitForSelector('.deadlocks', { state: 'detached' });
      expect(window.complaints).toEqual([]);
    });

    test('a thousand locks that change all the time are shown as they are', { timeout: 60_000 }, async () => {
      await using server = await startRedis();
      const locks = await connect(server.url, { label: 'busy' });
      const ended = new AbortController();
      const busy = Array.from({ length: 1_000 }, async (_, i) => {
        for (let n = 0; !ended.signal.aborted; n++)
          await locks.mutex(`order:${i}:${n}`).run(() => sleep(500 + Math.random() * 1_000));
      });
      await using _ = {
        [Symbol.asyncDispose]: async () => {
          ended.abort();
          await Promise.all(busy);
          await locks.close();
        },
      };
      await using site = await Site.start(server.url, '--every', '500ms');
      await using window = await windows.page(`${site.url}?show=held`);
      const { page } = window;
      await window.until("Number(document.querySelector('.figures .keys dd')?.textContent.replace(',', '')) > 900");
      expect(await page.locator('tbody tr').count(), 'a page of them').toBe(100);
      await page.waitForSelector('.events li:nth-child(50)');
      await page.click('.more button');
      await page.waitForSelector('tbody tr:nth-child(300)');
      ended.abort();
      await Promise.all(busy);
      await window.until("document.querySelector('.figures .keys dd').textContent === '0'");
      expect(window.complaints).toEqual([]);
    });
  });

  test('a wrong address gives a plain page that says what to do; another site gets nothing', async () => {
    await using site = await Site.start(newFile());
    const { origin } = new URL(site.url);
    await using window = await windows.page(`${origin}/wrong/`);
    expect(await window.page.innerText('h1')).toBe('This page opens by its whole address');
    expect(await window.page.innerText('p')).toContain('printed in its terminal');
    // Another origin of this machine, with the right address in its hands.
    await using other = await Site.start(newFile());
    await using stranger = await windows.page(other.url);
    const sent = await stranger.page.evaluate(
      `fetch(${JSON.stringify(`${site.url}look`)}, { method: 'POST', mode: 'no-cors', body: '{}' }).then(() => 'sent', () => 'refused')`,
    );
    expect(sent, 'by its own policy').toBe('refused');
  });
});
