import { computed, effect, signal } from '@preact/signals';
import { paramsOf, type Query, queryOf } from '../query.ts';
import type { ForgetAnswer, MemoList, ReleaseAnswer, ReleaseOrder, Snapshot } from '../wire.ts';
import { duration, type Language, preferredLanguage, TAGS } from './kit/language.ts';
import { ENGLISH, type Word } from './words/en.ts';
import { CHINESE } from './words/zh.ts';

const ofBrowser = preferredLanguage(navigator.languages);

/** The language that the reader chose; it is part of the address. */
export const chosen = signal<Language | undefined>();
export const language = computed<Language>(() => chosen.value ?? ofBrowser);

/** A sentence in the reader's language, with the values filled in. */
export function t(word: Word, values: Readonly<Record<string, string>> = {}): string {
  const sentence = (language.value === 'zh' ? CHINESE : ENGLISH)[word];
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
}

export const number = (value: number): string => value.toLocaleString(TAGS[language.value]);

export const time = (ms: number): string => duration(ms, language.value);

/** The lengths of the time line, ms. */
export const WINDOWS = [60_000, 300_000, 900_000, 3_600_000] as const;

/** The view of this page, which its address contains. */
export const query = signal<Query>(queryOf(new URLSearchParams()));

/** What the server sent last, and when. */
export const snapshot = signal<Snapshot | undefined>();
const received = signal(0);
/** The chosen length of the time line, ms. Default: one minute, or five minutes when one minute was watched. */
export const chosenSpan = signal<number | undefined>();
export const span = computed<number>(() => {
  const watched = (snapshot.value?.watched ?? 0) + elapsed.value;
  return chosenSpan.value ?? (watched < WINDOWS[0] ? WINDOWS[0] : WINDOWS[1]);
});
export const link = signal<'opening' | 'open' | 'lost'>('opening');

/** Changes once a second, and with each message. */
const tick = signal(performance.now());
setInterval(() => {
  tick.value = performance.now();
}, 1_000);
/** Time since the last message, ms. */
export const elapsed = computed(() => Math.max(0, tick.value - received.value));

export const cursor = signal<string | undefined>();
export const helping = signal(false);
/** Losses up to this time are dismissed, ms since 1970 by the server's clock. The browser stores it. */
export const dismissed = signal(Number(localStorage.getItem('holdfast-dismissed') ?? 0));
export function dismiss(until: number): void {
  dismissed.value = until;
  localStorage.setItem('holdfast-dismissed', `${until}`);
}
export const releasing = signal<{ readonly key: string; readonly label: string; readonly token: string } | undefined>();

export function readAddress(): void {
  const params = new URLSearchParams(location.search);
  query.value = queryOf(params);
  const given = Number(params.get('span'));
  chosenSpan.value = WINDOWS.find((each) => each === given * 1_000);
  const language = params.get('lang');
  chosen.value = language === 'en' || language === 'zh' ? language : undefined;
}

function addressOf(view: Query): string {
  const params = paramsOf(view);
  if (chosenSpan.value) params.set('span', `${chosenSpan.value / 1_000}`);
  if (chosen.value) params.set('lang', chosen.value);
  const text = params.toString();
  return text === '' ? location.pathname : `?${text}`;
}

/** Changes the view. With `typed`, the browser's history gets no new step. */
export function show(change: Partial<Query>, typed = false): void {
  query.value = { ...query.value, ...change };
  writeAddress(typed);
}

export function writeAddress(typed = false): void {
  history[typed ? 'replaceState' : 'pushState'](null, '', addressOf(query.value));
}

/** Attributes of a link that changes the view, and that a user can also open in another tab. */
export const going = (change: Partial<Query>) => ({
  href: addressOf({ ...query.value, ...change }),
  onClick: (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    show(change);
  },
});

export const toggleLine = (key: string): readonly string[] => {
  const { lines } = query.value;
  return lines.includes(key) ? lines.filter((each) => each !== key) : [...lines, key].slice(-8);
};

/** A server that sends nothing for this time, ms, is gone: it sends something every ten seconds. */
const MAX_SILENCE_MS = 25_000;
/** Typing is over after this time without a key, ms. */
const SETTLED_MS = 150;

let source: EventSource | undefined;
let asked = '';

/** Opens the event stream of the current view in place of an older one. While the page is hidden, no stream is open. */
function listen(): void {
  const wanted = paramsOf(query.value).toString();
  if (document.hidden) {
    source?.close();
    source = undefined;
    return;
  }
  if (source && source.readyState !== EventSource.CLOSED && asked === wanted) return;
  source?.close();
  asked = wanted;
  const mine = new EventSource(`events?${wanted}`);
  source = mine;
  mine.onmessage = ({ data }: MessageEvent<string>) => {
    if (mine !== source) return;
    received.value = performance.now();
    tick.value = received.value;
    snapshot.value = JSON.parse(data) as Snapshot;
    link.value = 'open';
  };
  mine.onerror = () => {
    if (mine === source) link.value = 'lost';
  };
}

export function follow(): void {
  let settled: ReturnType<typeof setTimeout> | undefined;
  let first = true;
  effect(() => {
    void query.value;
    clearTimeout(settled);
    if (first) listen();
    else settled = setTimeout(listen, SETTLED_MS);
    first = false;
  });
  document.addEventListener('visibilitychange', listen);
  setInterval(() => {
    if (document.hidden) return;
    if (performance.now() - received.value > MAX_SILENCE_MS) link.value = 'lost';
    // If an answer is no stream, the browser does not try again by itself.
    if (source?.readyState === EventSource.CLOSED) listen();
  }, 2_000);
}

async function post(path: string, body: object): Promise<Response> {
  return fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
}

export const lookNow = (): void => void post('look', {}).catch(() => {});

async function answerOf<T>(asked: Promise<Response>): Promise<T | { readonly error: string }> {
  try {
    return (await (await asked).json()) as T;
  } catch (error) {
    return { error: String(error) };
  }
}

export const release = (order: ReleaseOrder) => answerOf<ReleaseAnswer>(post('release', order));
export const forget = (key: string) => answerOf<ForgetAnswer>(post('forget', { key }));
export const memosIn = (prefix: string) => answerOf<MemoList>(fetch(`memos?in=${encodeURIComponent(prefix)}`));
