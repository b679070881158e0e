import { render } from 'preact';
import { LanguageSwitch } from '../../products/ui/page/kit/switch.tsx';
import { SCENES } from '../scenes/index.ts';
import { Controls, onKey } from './controls.tsx';
import { Picture } from './picture.tsx';
import { beginPlayer } from './player.ts';
import { begin, language, open, scene, way, words } from './state.ts';
import { Now, Story, Verdict } from './story.tsx';
import { Timeline } from './timeline.tsx';
import { Tools } from './tools.tsx';

function Head() {
  const { title, intro, ui } = words.value;
  return (
    <header>
      <div>
        <h1>
          holdfast <span>{title}</span>
        </h1>
        <p>{intro}</p>
        {document.documentElement.dataset.pages !== undefined && (
          <a href={language.value === 'en' ? '../guides/traps.html' : '../zh/guides/traps.html'}>{ui.documentation}</a>
        )}
      </div>
      <LanguageSwitch
        now={language.value}
        choose={(other) => {
          language.value = other;
        }}
      />
    </header>
  );
}

/** Wide pages have a list, narrow ones a menu; one of the two is shown. */
function Scenes() {
  const { ui, scenes } = words.value;
  return (
    <nav aria-label={ui.scenes}>
      <label class="menu">
        <span class="hidden">{ui.choose}</span>
        <select value={scene.value.name} onChange={(event) => open({ scene: event.currentTarget.value })}>
          {SCENES.map(({ name }) => (
            <option key={name} value={name}>
              {scenes[name]!.title}
            </option>
          ))}
        </select>
      </label>
      <ul>
        {SCENES.map(({ name }) => (
          <li key={name}>
            <button
              type="button"
              aria-current={name === scene.value.name ? 'page' : undefined}
              onClick={() => open({ scene: name })}
            >
              {scenes[name]!.title}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Ways() {
  const { ways, scenes } = words.value;
  const said = scenes[scene.value.name]!;
  return (
    <div class="about">
      <div class="top">
        <h2 class="title">{said.title}</h2>
        <fieldset class="ways">
          {(['naive', 'holdfast'] as const).map((name) => (
            <button
              key={name}
              type="button"
              class={name}
              aria-pressed={way.value === name}
              onClick={() => open({ way: name })}
            >
              {ways[name]}
            </button>
          ))}
        </fieldset>
      </div>
      <p class="lesson">
        {said.about} <b>{said[way.value]}</b>
      </p>
    </div>
  );
}

function Page() {
  const { ui } = words.value;
  return (
    <>
      <Head />
      <main>
        <Scenes />
        <div class="stage">
          <Ways />
          <Picture />
          <Now />
          <Controls />
          <Timeline />
          <Tools />
        </div>
        <aside>
          <Verdict />
          <Story />
          <section class="code">
            <h2>{ui.code}</h2>
            <pre>
              <code>{scene.value[way.value].code}</code>
            </pre>
          </section>
          <p class="soft keys">{ui.keys}</p>
        </aside>
      </main>
    </>
  );
}

begin();
beginPlayer();
addEventListener('keydown', onKey);
render(<Page />, document.body);
