import { milliseconds, visible } from '../../../src/core/index.ts';
import type { HistoryEntry, ProcessHistory } from '../../ui/recorder.ts';
import { time } from '../child/timing.ts';
import { command } from '../command.ts';
import { EXIT, ExitError, UsageError } from '../exit.ts';
import { span, table } from '../terminal/table.ts';

/** How long a process may take to answer, ms. */
const ANSWER_TIMEOUT_MS = 10_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** A span of time, ms since 1970. */
interface Window {
  readonly from: number;
  readonly to: number;
}

const WHAT = {
  holds: 'holds it',
  released: 'gave it back',
  lost: 'LOST IT',
  evicted: 'WAS EVICTED',
  timedOut: 'waited in vain',
  failed: 'could not ask',
  evicts: 'evicted its holders',
} as const satisfies Record<HistoryEntry['what'], string>;

const isTrouble = ({ what }: HistoryEntry): boolean => what !== 'holds' && what !== 'released';

/**
 * The minute or second that `--at` names: a time with a date, or a time of the last 24 hours by the clock of this machine.
 * @throws UsageError for any other text
 */
export function windowAt(text: string, now: number): Window {
  const [, day, hours, minutes, seconds] = /^(\d{4}-\d\d-\d\d[T ])?(\d\d?):(\d\d)(?::(\d\d))?$/.exec(text) ?? [];
  if (hours === undefined) {
    const from = Date.parse(/^\d{4}-/.test(text) ? text : '');
    if (Number.isNaN(from))
      throw new UsageError(`--at is ${JSON.stringify(text)}; it must be like 02:57, 02:57:30 or 2026-05-04T02:57`);
    return { from, to: from + 1_000 };
  }
  const at = new Date(now);
  if (day) {
    const [year, month, date] = day.slice(0, 10).split('-').map(Number);
    at.setFullYear(year!, month! - 1, date);
  }
  at.setHours(Number(hours), Number(minutes), Number(seconds ?? 0), 0);
  const from = !day && at.getTime() > now ? at.getTime() - DAY_MS : at.getTime();
  return { from, to: from + (seconds === undefined ? MINUTE_MS : 1_000) };
}

/** @throws UsageError */
function headersOf(header: string | undefined): Readonly<Record<string, string>> {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(header ?? '') ?? [];
  if (header !== undefined && !name) throw new UsageError(`--header must be like 'Authorization: Bearer …'`);
  return { accept: 'application/json', ...(name && { [name]: value! }) };
}

/** Asks one process. @throws ExitError 69 if it gives no history */
async function ask(page: string, headers: Readonly<Record<string, string>>): Promise<ProcessHistory> {
  const failed = (why: string): ExitError => new ExitError(EXIT.UNAVAILABLE, `${page} gave no history: ${why}`);
  let url: URL;
  try {
    url = new URL('history', `${page.replace(/\/+$/, '')}/`);
  } catch {
    throw new UsageError(`--from is ${JSON.stringify(page)}; it must be an address, like http://127.0.0.1:9090/locks`);
  }
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  const answer = await fetch(url, { headers, redirect: 'manual', signal }).catch((error: Error) => {
    throw failed(((error.cause ?? error) as Error).message);
  });
  if ([301, 302, 303, 307, 401, 403].includes(answer.status))
    throw failed(`it wants a login (${answer.status}); give one with --header or HOLDFAST_HEADER`);
  const found = (await answer.json().catch(() => ({}))) as Partial<ProcessHistory> & { readonly error?: string };
  if (!found.entries) throw failed(found.error ?? `there is no page of holdfast (${answer.status})`);
  return found as ProcessHistory;
}

function row({ key, what, label, token, from, to, why }: HistoryEntry, now: number): string[] {
  const at = new Date(to ?? from);
  const two = (value: number): string => `${value}`.padStart(2, '0');
  const day = now - at.getTime() < DAY_MS ? '' : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} `;
  const clock = `${day}${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')}`;
  return [clock, key, label, WHAT[what], token ?? '-', span((to ?? now) - from), why ?? ''];
}

export const history = command({
  name: 'history',
  summary: 'ask processes who held a key when, who lost it, who evicted it and why',
  takes: ['[key]'],
  options: {
    from: { type: 'string', multiple: true },
    header: { type: 'string' },
    at: { type: 'string' },
    since: { type: 'string' },
    lost: { type: 'boolean' },
    json: { type: 'boolean' },
  },
  help: `Ask running processes what their locks did: who held a key when, who lost it, who evicted it and why.

  holdfast history pay:1 --at 02:57 --from http://10.0.0.7:9090/locks
  holdfast history --lost --since 1h --from http://10.0.0.7:9090/locks --from http://10.0.0.8:9090/locks

  --from <address>   where a process has its page (uiHandler of holdfast/ui); one for each process to ask
  --header <header>  for its login, as 'Cookie: session=…' (default $HOLDFAST_HEADER, which nobody else can see)
  --at <time>        what was held, and what happened, in that minute: 02:57, 02:57:30 or 2026-05-04T02:57
  --since <time>     what lasted until then or later, as 10m or 1h
  --lost             only losses, evictions and waits that failed
  --json             a line of JSON for each: { "process", "what", "key", "label", "as", "token", "from", "to", "why" }

A process knows only what its own locks did, from when it mounted the page until it ends: the last thousand holds, and
the last thousand losses, evictions and failed waits. A process without the page, or that is gone, knows nothing. Behind
a load balancer one process answers: ask each by its own address.

Exit code: 0 all have answered; 69 one has not; 64 wrong usage.`,
  async run({ values, positionals: [key] }) {
    const { from = [], header = process.env.HOLDFAST_HEADER, at, since, lost, json } = values;
    if (from.length === 0) throw new UsageError('--from is missing: the address of the page of a process');
    const now = Date.now();
    const ago = since === undefined ? Number.POSITIVE_INFINITY : milliseconds(time(since, '--since'), '--since');
    const window = at === undefined ? { from: now - ago, to: Number.POSITIVE_INFINITY } : windowAt(at, now);
    const headers = headersOf(header);
    const answers = await Promise.allSettled(from.map((page) => ask(page, headers)));
    const heads = ['AT', 'KEY', 'WHO', 'WHAT', 'TOKEN', 'FOR', 'WHY'];
    for (const answer of answers) {
      if (answer.status === 'rejected') continue;
      const { process, entries, since, troublesSince } = answer.value;
      const found = entries.filter(
        (entry) =>
          (key === undefined || entry.key === key) &&
          (!lost || isTrouble(entry)) &&
          entry.from < window.to &&
          (entry.to ?? now) >= window.from,
      );
      if (json) for (const entry of found) console.log(JSON.stringify({ process, ...entry }));
      else if (found.length > 0)
        console.log(
          table(
            heads,
            found.map((entry) => row(entry, now)),
          ).join('\n'),
        );
      const known = lost ? troublesSince : since;
      const gap = window.from < known ? `; it knows all since ${new Date(known).toISOString()}` : '';
      if (!json) console.error(visible(`${found.length} of ${process}${gap}`));
    }
    for (const answer of answers) if (answer.status === 'rejected') throw answer.reason;
    return EXIT.OK;
  },
});
