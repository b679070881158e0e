import { useEffect, useRef } from 'preact/hooks';
import { toneOf } from '../stage/events.ts';
import { harms, type WayName } from '../stage/scene.ts';
import { sentence } from '../words/index.ts';
import { open, playing, recording, scene, seed, several, time, told, way, words } from './state.ts';

/** What just happened, in one sentence; for readers of screens, too. */
export function Now() {
  const happening = recording.value?.happenings[told.value];
  return (
    <p class={`now-said ${happening ? toneOf(happening.what) : ''}`} aria-live="polite">
      <span class="clock">{Math.round(time.value)} ms</span>
      <span>{happening ? sentence(words.value, happening, several.value) : words.value.ui.begin}</span>
    </p>
  );
}

/** All of it, sentence by sentence; each leads to its time. */
export function Story() {
  const { ui } = words.value;
  const list = useRef<HTMLOListElement>(null);
  const at = told.value;
  useEffect(() => {
    const current = list.current?.children[Math.max(0, at)] as HTMLElement | undefined;
    const box = list.current;
    // Not `scrollIntoView`, which moves the page, too.
    if (current && box) box.scrollTop = current.offsetTop - box.clientHeight / 2;
  }, [at]);
  const { happenings = [] } = recording.value ?? {};
  return (
    <section class="story" aria-label={ui.story}>
      <h2>{ui.story}</h2>
      <ol ref={list}>
        {happenings.map((happening, i) => (
          <li
            key={`${happening.at}${i}`}
            class={`${toneOf(happening.what)} ${i === at ? 'current' : ''} ${i > at ? 'later' : ''}`}
          >
            <button
              type="button"
              aria-current={i === at ? 'step' : undefined}
              onClick={() => {
                playing.value = false;
                told.value = i;
                time.value = happening.at;
              }}
            >
              <span class="clock">{Math.round(happening.at)}</span>
              <span>{sentence(words.value, happening, several.value)}</span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** What came of it, when all is told. */
export function Verdict() {
  const { ui, harms: said, fine, ways } = words.value;
  const made = recording.value;
  if (!made) return null;
  const over = time.value >= made.ends || told.value >= made.happenings.length - 1;
  const found = harms(made.tally);
  const other: WayName = way.value === 'naive' ? 'holdfast' : 'naive';
  return (
    <section class={`verdict ${over ? (found.length > 0 ? 'wrong' : 'right') : 'open'}`} aria-label={ui.verdict}>
      <h2>{ui.verdict}</h2>
      {over && (
        <>
          <p>
            <b>{found.length > 0 ? ui.wrong : ui.right}.</b>{' '}
            {found.length > 0 ? found.map((harm) => said[harm](made.tally)).join(' ') : fine(made.tally)}
          </p>
          <button type="button" onClick={() => open({ way: other, seed: seed.value, scene: scene.value.name })}>
            {ui.other}: {ways[other]}
          </button>
        </>
      )}
      {!over && <p class="soft">…</p>}
    </section>
  );
}
