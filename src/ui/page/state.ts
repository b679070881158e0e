import { computed, signal } from '@preact/signals';
import { paramsOf, type Query, queryOf } from '../query.ts';
import type { Snapshot } from '../wire.ts';
import { chosen } from './language.ts';

/** The lengths of the time line, ms. */
export const WINDOWS = [60_000, 300_000, 900_000, 3_600_000] as const;

/** What this page shows, as in its address. */
export const query = signal<Query>(queryOf(new URLSearchParams()));

/** What the server sent last, and when. */
export const snapshot = signal<Snapshot | undefined>();
export const received = signal(0);
/** The length of the time line. Default: the time that was watched, five minutes at most. */
export const chosenSpan = signal<number | undefined>();
export const span = computed<number>(() => {
  const watched = (snapshot.value?.watched ?? 0) + elapsed.value;
  return chosenSpan.value ?? (watched < WINDOWS[0] ? WINDOWS[0] : WINDOWS[1]);
});
/** Whether the server is there. */
export const link = signal<'opening' | 'open' | 'lost'>('opening');

/** Changes once a second, and with each message. */
export const tick = signal(performance.now());
setInterval(() => {
  tick.value = performance.now();
}, 1_000);
/** Time since the last message, ms. */
export const elapsed = computed(() => Math.max(0, tick.value - received.value));

/** The key with the keyboard focus. */
export const cursor = signal<string | undefined>();
export const helping = signal(false);
/** The hold that the user is about to evict. */
export const releasing = signal<{ readonly key: string; readonly label: string; readonly token: string } | undefined>();

export function readAddress(): void {
  const params = new URLSearchParams(location.search);
  query.value = queryOf(params);
  const given = Number(params.get('span'));
  chosenSpan.value = WINDOWS.find((each) => each === given * 1_000);
  const language = params.get('lang');
  chosen.value = language === 'en' || language === 'zh' ? language : undefined;
}

/** The address of a view of this page. */
export function addressOf(view: Query): string {
  const params = paramsOf(view);
  if (chosenSpan.value) params.set('span', `${chosenSpan.value / 1_000}`);
  if (chosen.value) params.set('lang', chosen.value);
  const text = params.toString();
  return text === '' ? location.pathname : `?${text}`;
}

/** Shows something else. Typing adds no step to the browser's history. */
export function show(change: Partial<Query>, typed = false): void {
  query.value = { ...query.value, ...change };
  writeAddress(typed);
}

export function writeAddress(typed = false): void {
  history[typed ? 'replaceState' : 'pushState'](null, '', addressOf(query.value));
}

/** For a link that changes this page, and that a user can also open in another tab. */
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
