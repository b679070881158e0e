import { batch } from '@preact/signals';
import type { Round, SceneName, Wish } from '../record.ts';
import { STRATEGIES } from '../record.ts';
import { verdictOf } from './model/verdict.ts';
import { begin, end, now, playing } from './player.ts';
import { failure, round, running, scene, strategy, tally } from './state.ts';

/** An engine with long leases takes its time to see that a holder is late. ms. */
const LIMIT = 120_000;

async function ask(wish: Wish): Promise<Round> {
  const response = await fetch('/rounds', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(wish),
    signal: AbortSignal.timeout(LIMIT),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer as Round;
}

/** Rounds one after another; the last one is shown. What was asked for before is forgotten. */
export async function play(count = 1): Promise<void> {
  const wish: Wish = { scene: scene.value, strategy: strategy.value };
  const isMeant = (): boolean => wish.scene === scene.value && wish.strategy === strategy.value;
  batch(() => {
    running.value = count;
    failure.value = undefined;
    playing.value = false;
  });
  try {
    for (let left = count; left > 0; left--) {
      const next = await ask(wish);
      if (!isMeant()) return;
      batch(() => {
        running.value = left - 1;
        show(next);
      });
    }
    begin();
  } catch (error) {
    if (!isMeant()) return;
    batch(() => {
      running.value = 0;
      failure.value = (error as Error).message;
    });
  }
}

function show(next: Round): void {
  round.value = next;
  now.value = end.value;
  const right = (side: 'without' | 'with') => verdictOf(next.scene, next[side]).right;
  tally.value = [...tally.value, { without: right('without'), with: right('with') }];
}

export function choose(next: SceneName, way: string = STRATEGIES[next][0]): void {
  if (next === scene.value && way === strategy.value) return;
  batch(() => {
    scene.value = next;
    strategy.value = way;
    tally.value = [];
    if (round.value?.scene !== next) round.value = undefined;
  });
  void play();
}
