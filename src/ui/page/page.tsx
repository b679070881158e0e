/** The page of `holdfast ui`, in the browser. */
import { effect } from '@preact/signals';
import { render } from 'preact';
import { Detail } from './detail.tsx';
import { Help, Outcome, ReleaseDialog } from './dialogs.tsx';
import { Events } from './events.tsx';
import { Figures, Findings } from './figures.tsx';
import { Deadlocks, Waits } from './graph.tsx';
import { hearKeyboard } from './keyboard.ts';
import { Keys } from './keys.tsx';
import { TAGS } from './kit/language.ts';
import { Lanes } from './lanes.tsx';
import { language } from './language.ts';
import { link, query, readAddress, snapshot } from './state.ts';
import { follow } from './stream.ts';
import { Top, Trouble } from './top.tsx';

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
