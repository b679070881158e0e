/** The page of `holdfast ui`, in the browser. */

import { effect } from '@preact/signals';
import { render } from 'preact';
import { Detail, Events, Losses } from './detail.tsx';
import { Help, Outcome, ReleaseDialog } from './dialogs.tsx';
import { Deadlocks, Waits } from './graph.tsx';
import { Keys } from './keys.tsx';
import { TAGS } from './kit/language.ts';
import { Lanes } from './lanes.tsx';
import { Memos } from './memos.tsx';
import {
  cursor,
  follow,
  helping,
  language,
  link,
  lookNow,
  query,
  readAddress,
  releasing,
  show,
  snapshot,
  toggleLine,
} from './state.ts';
import { Figures, Findings, Top, Trouble } from './top.tsx';

const search = (): HTMLInputElement | null => document.querySelector('#search');

function move(by: 1 | -1): void {
  const keys = snapshot.value?.rows.map(({ key }) => key) ?? [];
  const at = cursor.value === undefined ? -1 : keys.indexOf(cursor.value);
  const next = keys[at < 0 ? 0 : Math.max(0, Math.min(keys.length - 1, at + by))];
  if (next === undefined) return;
  cursor.value = next;
  for (const link of document.querySelectorAll<HTMLElement>('[data-key]')) {
    if (link.dataset.key !== next) continue;
    link.focus({ preventScroll: true });
    link.scrollIntoView({ block: 'nearest' });
  }
}

/** Closes the open key if there is one, otherwise clears the search. */
function leave(): void {
  if (query.value.key !== undefined) show({ key: undefined });
  else if (query.value.q !== '') show({ q: '' });
  search()?.blur();
}

const ACTS: Readonly<Record<string, () => void>> = {
  '/': () => search()?.focus(),
  j: () => move(1),
  ArrowDown: () => move(1),
  k: () => move(-1),
  ArrowUp: () => move(-1),
  r: lookNow,
  t: () => {
    const key = cursor.value ?? query.value.key;
    if (key !== undefined) show({ lines: toggleLine(key) });
  },
  '?': () => {
    helping.value = true;
  },
};

function hearKeyboard(): void {
  document.addEventListener('keydown', (event) => {
    // An open dialog gets all keys, and closes itself on Escape.
    if (event.metaKey || event.ctrlKey || event.altKey || releasing.value || helping.value) return;
    if (event.key === 'Escape') return leave();
    const act = ACTS[event.key];
    if (!act || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    act();
  });
  document.addEventListener('focusin', ({ target }) => {
    const key = target instanceof HTMLElement ? target.dataset.key : undefined;
    if (key !== undefined) cursor.value = key;
  });
}

function Page() {
  const old = link.value === 'lost' || snapshot.value?.look.state === 'failing';
  const stuck = (snapshot.value?.deadlocks.length ?? 0) > 0;
  return (
    <>
      <Top />
      <main class={`${old ? 'old' : ''} ${query.value.key === undefined ? '' : 'with-key'}`}>
        <Trouble />
        <Deadlocks />
        <Outcome />
        <Losses />
        {stuck && <Waits />}
        <Figures />
        <Findings />
        {!stuck && <Waits />}
        <Lanes />
        <div class="columns">
          <Keys />
          <aside>
            <Detail />
            <Events />
            <Memos />
          </aside>
        </div>
      </main>
      <ReleaseDialog />
      <Help />
    </>
  );
}

readAddress();
addEventListener('popstate', readAddress);
effect(() => {
  document.documentElement.lang = TAGS[language.value];
});
hearKeyboard();
follow();
const root = document.querySelector('#page')!;
root.replaceChildren();
render(<Page />, root);
