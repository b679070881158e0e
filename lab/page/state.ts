import { batch, computed, effect, signal } from '@preact/signals';
import { SCENES } from '../scenes/index.ts';
import type { Deed, Fault } from '../stage/faults.ts';
import { play } from '../stage/play.ts';
import { momentAt, type Recording } from '../stage/recording.ts';
import type { WayName } from '../stage/scene.ts';
import { LANGUAGES, type Language } from '../words/index.ts';
import { type Address, addressText, readAddress } from './address.ts';

const first = readAddress(location.hash, navigator.languages);

export const sceneName = signal(first.scene);
export const way = signal<WayName>(first.way);
export const seed = signal(first.seed);
export const faults = signal<readonly Fault[]>(first.faults);
export const language = signal<Language>(first.language);
/** True time, as far as the clock has come: ms since the scene began. */
export const time = signal(first.at);
/** Which happening was told last; -1 before the first. */
export const told = signal(-1);
export const playing = signal(false);
export const speed = signal<'slow' | 'normal' | 'fast'>('normal');
/** The target of a deed: a process, an engine, or a message. */
export const target = signal('A');
/** Somebody has chosen it: it is worth showing. */
export const picked = signal(false);
/** Undefined until the first run is there. */
export const recording = signal<Recording | undefined>(undefined);

export const words = computed(() => LANGUAGES[language.value]);
export const scene = computed(() => SCENES.find(({ name }) => name === sceneName.value)!);
export const moment = computed(() => recording.value && momentAt(recording.value, time.value));
export const several = computed(() => (scene.value[way.value].engines ?? 1) > 1);

/** Short enough for an address, and never before what is seen. */
const tenths = (ms: number): number => Math.ceil(ms * 10 - 1e-6) / 10;

/** What was told by then: of several at one time the last. */
export function lastBy(at: number): number {
  return (recording.value?.happenings ?? []).findLastIndex((happening) => happening.at <= at + 0.001);
}

let runs = 0;

/** Runs it again, from the seed, and looks at it from `at` on, or from a sentence on. */
async function rerun(at: number, step = 0): Promise<void> {
  const run = ++runs;
  const made = await play(scene.value, way.value, seed.value, faults.value);
  if (run !== runs) return;
  batch(() => {
    recording.value = made;
    if (made.happenings[step - 1]) tellStep(step - 1);
    else seek(Math.min(at, made.ends));
    if (!made.messages.some(({ id }) => id === target.value) && target.value.includes('-')) target.value = 'A';
  });
}

export function pick(name: string): void {
  picked.value = true;
  target.value = name;
}

export function seek(at: number): void {
  batch(() => {
    time.value = at;
    told.value = lastBy(at);
  });
}

function tellStep(index: number): void {
  told.value = index;
  time.value = recording.value?.happenings[index]?.at ?? 0;
}

/** To the happening that is told `by` further on. */
export function step(by: 1 | -1): void {
  const { happenings = [] } = recording.value ?? {};
  const next = Math.max(-1, Math.min(told.value + by, happenings.length - 1));
  batch(() => {
    playing.value = false;
    tellStep(next);
  });
}

export function open(change: Partial<Pick<Address, 'scene' | 'way' | 'seed' | 'faults' | 'at' | 'step'>>): void {
  batch(() => {
    playing.value = false;
    if (change.scene !== undefined) sceneName.value = change.scene;
    if (change.way) way.value = change.way;
    if (change.seed) seed.value = change.seed;
    if (change.faults) faults.value = change.faults;
    if (change.scene !== undefined && !change.faults) faults.value = [];
    if (!several.value && target.value.startsWith('engine')) target.value = 'engine 1';
  });
  void rerun(change.at ?? 0, change.step);
}

/** What somebody does now; what they did later than now is no more. */
export function act(deed: Deed, on: string): void {
  const at = tenths(time.value);
  const before = faults.value.filter((fault) => fault.at <= at);
  faults.value = [...before, { at, deed, on }];
  void rerun(at);
}

export function undo(all: boolean): void {
  faults.value = all ? [] : faults.value.slice(0, -1);
  void rerun(time.value);
}

export function address(): string {
  const at = time.value;
  const onStep = recording.value?.happenings[told.value]?.at === at;
  return addressText({
    scene: sceneName.value,
    way: way.value,
    seed: seed.value,
    faults: faults.value,
    at: tenths(at),
    step: onStep ? told.value + 1 : 0,
    language: language.value,
  });
}

/** Browsers refuse many changes of an address in a short time, as dragging would make. ms */
const SETTLED = 200;
let settling: ReturnType<typeof setTimeout> | undefined;

export function showAddress(now = address()): void {
  clearTimeout(settling);
  if (location.hash !== now) history.replaceState(null, '', now);
}

/** Once, when the page is there. */
export function begin(): void {
  void rerun(first.at, first.step);
  effect(() => {
    document.documentElement.lang = language.value;
    document.title = `${words.value.scenes[sceneName.value]!.title} · holdfast`;
    if (playing.value || !recording.value) return; // not with each frame
    const now = address();
    clearTimeout(settling);
    settling = setTimeout(() => showAddress(now), SETTLED);
  });
  addEventListener('hashchange', () => {
    const given = readAddress(location.hash, navigator.languages);
    language.value = given.language;
    open(given);
  });
}
