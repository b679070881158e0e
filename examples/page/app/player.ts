import { computed, effect, signal } from '@preact/signals';
import { round } from './state.ts';

/** Whoever asks for less motion sees the end at once, and goes through it step by step. */
export const still = matchMedia('(prefers-reduced-motion: reduce)');

export const SPEEDS: readonly number[] = [100, 50, 20, 10, 5, 1];
/** How long a rush is shown if it can be: long enough to follow it, short enough to stay. ms. */
const SHOWN = 12_000;

/** ms since the rush began, as it was. */
export const now = signal(0);
export const playing = signal(false);
export const slower = signal(1);

/** When the last of both sides had an answer. */
export const end = computed(() => {
  const sides = round.value ? [round.value.without, round.value.with] : [];
  return Math.max(1, ...sides.map(({ happenings }) => happenings.at(-1)?.at ?? 0));
});
export const ended = computed(() => now.value >= end.value);

/** The times at which something happened, in order. */
const moments = computed(() => {
  const sides = round.value ? [round.value.without, round.value.with] : [];
  return [...new Set(sides.flatMap(({ happenings }) => happenings.map(({ at }) => at)))].sort((a, b) => a - b);
});

/** Shows the round from its beginning. */
export function begin(): void {
  slower.value = SPEEDS.find((factor) => factor * end.value <= SHOWN) ?? 1;
  now.value = still.matches ? end.value : 0;
  playing.value = !still.matches;
}

export function toggle(): void {
  if (ended.value) now.value = 0;
  playing.value = !playing.value;
}

export function seek(at: number): void {
  playing.value = false;
  now.value = Math.min(end.value, Math.max(0, at));
}

export function step(by: 1 | -1): void {
  const next = by > 0 ? moments.value.find((at) => at > now.value) : moments.value.findLast((at) => at < now.value);
  seek(next ?? (by > 0 ? end.value : 0));
}

let last = 0;

function frame(at: number): void {
  if (!playing.peek()) return;
  now.value = Math.min(end.peek(), now.peek() + Math.min(100, at - last) / slower.peek());
  last = at;
  if (ended.peek()) playing.value = false;
  else requestAnimationFrame(frame);
}

effect(() => {
  if (!playing.value) return;
  last = performance.now();
  requestAnimationFrame(frame);
});
