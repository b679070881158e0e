import { batch, effect } from '@preact/signals';
import { playing, recording, speed, time, told } from './state.ts';

/** How many simulated ms pass in a second, and for how long a sentence is read, ms. */
const PACE = {
  slow: { rate: 50, reading: 2_200 },
  normal: { rate: 140, reading: 1_000 },
  fast: { rate: 420, reading: 250 },
} as const;
/** While a sentence is read, time goes on so much slower. */
const SLOWER = 0.12;

const still = matchMedia('(prefers-reduced-motion: reduce)');

/** When the sentence that is shown may be followed by the next one. */
let readUntil = 0;

/** Goes on by what is due in `ms` of real time: never past a sentence that nobody could read yet. */
function advance(now: number, ms: number): void {
  const { happenings, ends } = recording.value!;
  const { rate, reading } = PACE[speed.value];
  const next = happenings[told.value + 1];
  const slow = now < readUntil;
  if (still.matches) {
    // Nothing moves: from one sentence to the next.
    if (now < readUntil) return;
    readUntil = now + reading * 1.5;
    if (next) batch(() => tell(next.at));
    else finish(ends);
    return;
  }
  const to = time.value + (ms / 1_000) * rate * (slow ? SLOWER : 1);
  if (next && to >= next.at) {
    if (slow) {
      time.value = Math.max(time.value, Math.min(to, next.at - 0.001));
      return;
    }
    readUntil = now + reading;
    batch(() => tell(next.at));
  } else if (to >= ends) finish(ends);
  else time.value = to;
}

function tell(at: number): void {
  time.value = at;
  told.value += 1;
}

function finish(ends: number): void {
  batch(() => {
    time.value = ends;
    playing.value = false;
  });
}

/** Begins to follow `playing`. */
export function beginPlayer(): void {
  effect(() => {
    if (!playing.value) return undefined;
    let frame = 0;
    let last = performance.now();
    readUntil = 0;
    const turn = (now: number): void => {
      advance(now, Math.min(100, now - last));
      last = now;
      frame = requestAnimationFrame(turn);
    };
    frame = requestAnimationFrame(turn);
    return () => cancelAnimationFrame(frame);
  });
}

export function toggle(): void {
  const { ends = 0, happenings = [] } = recording.peek() ?? {};
  if (!playing.peek() && (time.peek() >= ends || told.peek() >= happenings.length - 1)) {
    batch(() => {
      time.value = 0;
      told.value = -1;
    });
  }
  playing.value = !playing.peek();
}
