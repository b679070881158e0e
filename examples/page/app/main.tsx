import { render } from 'preact';
import { LanguageSwitch } from '../../../products/ui/page/kit/switch.tsx';
import { ended } from './player.ts';
import { play } from './rounds.ts';
import { failure, language, round, running, scene, sides, words } from './state.ts';
import { Scenes, Strategies } from './view/choices.tsx';
import { Log } from './view/log.tsx';
import { Side } from './view/side.tsx';
import { Tally } from './view/tally.tsx';
import { Transport } from './view/transport.tsx';

/** What just happened, in a sentence for each side. */
function Status() {
  const text = words.value;
  const [without, withIt] = [sides.without.value, sides.with.value];
  if (failure.value !== undefined) return <p role="status">{text.failed(failure.value)}</p>;
  if (running.value > 0) return <p role="status">{text.running}</p>;
  if (!ended.value || !without || !withIt) return <p role="status" />;
  const sentences = [without, withIt].map(({ plan, verdict }) =>
    text.sentence(plan.scene, plan.side.strategy, verdict),
  );
  return (
    <p role="status" class="hidden">
      {sentences.join(' ')}
    </p>
  );
}

function Actions() {
  const text = words.value;
  const busy = running.value > 0;
  return (
    <div class="actions">
      <button type="button" class="main" disabled={busy} onClick={() => void play()}>
        {text.again}
      </button>
      {scene.value !== 'paused' && (
        <button type="button" disabled={busy} onClick={() => void play(10)}>
          {text.tenMore}
        </button>
      )}
    </div>
  );
}

function App() {
  const text = words.value;
  return (
    <main aria-busy={running.value > 0}>
      <header>
        <div>
          <h1>{text.title}</h1>
          <p>{text.lead}</p>
        </div>
        <LanguageSwitch
          now={language.value}
          choose={(other) => {
            language.value = other;
          }}
        />
      </header>
      <div class="controls">
        <Scenes />
        <Strategies />
      </div>
      <section class="stage">
        <div class="sides">
          <Side name="without" />
          <Side name="with" />
        </div>
        {round.value && <Transport />}
        <Status />
        <div class="rounds">
          <Actions />
          <Tally />
        </div>
      </section>
      {round.value && (
        <footer>
          <p>{text.legend}</p>
          <p>
            {text.real(round.value.processes)} {text.engine(round.value.engine)}
          </p>
          <Log />
        </footer>
      )}
    </main>
  );
}

render(<App />, document.getElementById('app')!);
void play();
