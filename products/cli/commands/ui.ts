import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { redacted } from '../../../src/connect/url.ts';
import { isLockError, milliseconds, visible } from '../../../src/core/index.ts';
import { DEFAULT_TIME_PART, MIN_PAUSE_MS } from '../../ui/pace.ts';
import type { PageServer } from '../../ui/server.ts';
import type { ReleaseOrder } from '../../ui/wire.ts';
import { time } from '../child/timing.ts';
import { command } from '../command.ts';
import { addressOf, open, sourceOf, URL_OPTION } from '../engine.ts';
import { EXIT, ExitError, messageOf, whole } from '../exit.ts';
import { Interruption } from '../interruption.ts';
import { complain } from '../terminal/screen.ts';

/** How long the engine's connections have to close, ms. There are no locks to release. */
const MAX_CLOSE_MS = 250;
/** How long we wait for the engine before we print the page's address, ms: a wrong URL of the engine fails first. */
const FIRST_ANSWER_MS = 1_000;

export const ui = command({
  name: 'ui',
  summary: 'show all locks on a web page, live',
  takes: [],
  options: {
    ...URL_OPTION,
    port: { type: 'string', short: 'p' },
    prefix: { type: 'string' },
    every: { type: 'string' },
    'allow-release': { type: 'boolean' },
    'trace-url': { type: 'string' },
  },
  help: `Show on a web page, live, who holds what and who waits: new holders, the longest waits, the waiters of each key.

  holdfast ui                                 on a free port; open the address that it prints
  holdfast ui --url redis://db1 --port 8080
  holdfast ui --prefix order: --every 5s
  holdfast ui --allow-release                 the page can evict a holder, and forget what is kept of a memo

  -u, --url <url>   the engine (default $HOLDFAST_URL, else a local file)
  -p, --port <n>    port of the page (default: a free one)
  --prefix <text>   show only keys that begin with it
  --every <time>    how often to look at all keys, from 100ms (default 1s; longer if a look takes long, so that
                    looks take 1% of the engine's time; at most 5m)
  --allow-release   let the page take locks away, and forget memos; without it the page changes nothing
  --trace-url <url> link traced holders to their traces, as https://traces.example/trace/{traceId}

Only this machine can open the page, and only with its address, which ends in a new random word each time. The page asks
the engine only while somebody has it open. From another machine: ssh -L 8080:127.0.0.1:<port> <host>

Exit code: 0 after ^C; 69 the port is taken, or the engine's driver is not installed; 64 wrong usage.`,
  async run({ values }) {
    const port = whole(values.port ?? '0', '--port', 0, 65_535);
    const least =
      values.every === undefined
        ? MIN_PAUSE_MS
        : milliseconds(time(values.every, '--every'), '--every', { min: 100, max: 3_600_000 });
    const pace = { least, share: values.every === undefined ? DEFAULT_TIME_PART : undefined };
    const address = addressOf(values.url);
    const { url } = address;
    // With these flags V8 keeps less memory. Without them it takes three times as much for 100,000 locks, and is only a little faster.
    setFlagsFromString('--semi-space-growth-factor=1');
    setFlagsFromString('--heap-growing-percent=20');
    const { PageServer } = await import('../../ui/server.ts');
    using interruption = new Interruption();
    const page = new PageServer({
      ...{ open: () => open(address), engine: redacted(url), prefix: values.prefix ?? '', pace, port },
      ...(values['allow-release'] && {
        released: print,
        forgot: (key: string) => log(`forgot the memo ${JSON.stringify(key)}`),
      }),
      traceUrl: values['trace-url'],
    });
    try {
      const at = await listening(page, port);
      await firstAnswer(page);
      console.log(`The page is at ${at}\nIt shows ${sourceOf(address)}. ^C ends it.`);
      await interruption.ended;
    } finally {
      await Promise.race([page.close().catch(() => {}), sleep(MAX_CLOSE_MS)]);
    }
    // A driver that still tries to reach a server would keep the process.
    process.exit(EXIT.OK);
  },
});

async function listening(page: PageServer, port: number): Promise<string> {
  try {
    return await page.listen();
  } catch (error) {
    const { code } = error as { code?: string };
    const advice = 'choose another with --port, or leave out --port to get a free one';
    if (code === 'EADDRINUSE')
      throw new ExitError(EXIT.UNAVAILABLE, `port ${port} is used by another program; ${advice}`);
    if (code === 'EACCES')
      throw new ExitError(EXIT.UNAVAILABLE, `you have no right to listen on port ${port}; ${advice}`);
    throw error;
  }
}

/** If the engine is away, this process says so, and the page asks again. An address that can never work is an error. */
async function firstAnswer(page: PageServer): Promise<void> {
  const answer = page.engine().then(
    () => {},
    (error: unknown) => {
      if (isLockError(error, 'LOCK_INVALID') || isLockError(error, 'LOCK_UNSUPPORTED')) throw error;
      complain(`${messageOf(error)}. The page tries again while somebody has it open`);
    },
  );
  answer.catch(() => {}); // after the limit, the page reports the error
  await Promise.race([answer, sleep(FIRST_ANSWER_MS, undefined, { ref: false })]);
}

const log = (text: string): void => console.log(visible(`${new Date().toISOString()} ${text}`));

const print = ({ key, token, reason }: ReleaseOrder): void =>
  log(`evicted the holder of ${JSON.stringify(key)} with token ${token}: ${reason}`);
