import { DEEDS, type Deed } from '../stage/faults.ts';
import { nameFor } from '../words/index.ts';
import { ANSWERS } from './answers.ts';
import { beginDrag, dragged, dropped, fits } from './drag.ts';
import { act, faults, moment, pick, playing, recording, several, target, time, undo, words } from './state.ts';

/** The deeds that are possible now, each with its target. */
export function Tools() {
  const { ui, deeds } = words.value;
  const now = moment.value;
  const flying = recording.value?.messages.filter(
    ({ sent, due, lost = due }) => sent <= time.value && time.value < lost,
  );
  if (!now || !flying) return null;
  const targets = [...now.people.map(({ name }) => name), ...now.engines.map(({ name }) => name)];
  const messages = playing.value ? [] : flying.slice(0, 6); // they come and go too fast to be chosen here
  const chosen = targets.includes(target.value) || messages.some(({ id }) => id === target.value) ? target.value : 'A';
  return (
    <section class="tools" aria-label={ui.act}>
      <fieldset>
        <legend>{ui.act}</legend>
        {targets.map((name) => (
          <Target key={name} name={name} chosen={chosen} title={nameFor(words.value, name, several.value)} />
        ))}
        {messages.map(({ id, from, to, kind, answer, says }) => (
          <Target
            key={id}
            name={id}
            chosen={chosen}
            title={`${nameFor(words.value, from, several.value)} → ${nameFor(words.value, to, several.value)}: ${answer ? ANSWERS[says] : words.value.messages[kind]}`}
          />
        ))}
      </fieldset>
      <div class="deeds">
        {DEEDS.filter((deed) => isShown(deed, chosen)).map((deed) => (
          <button
            key={deed}
            type="button"
            class={`deed ${deed}`}
            disabled={!possible(deed, chosen)}
            title={ui.drag}
            onPointerDown={(event) => beginDrag(deed, event)}
            onClick={() => {
              if (!dropped.peek()) act(deed, chosen);
            }}
          >
            {deeds[deed]}
          </button>
        ))}
      </div>
      <Yours />
      {dragged.value && (
        <span class="dragged" style={{ left: `${dragged.value.x}px`, top: `${dragged.value.y}px` }}>
          {deeds[dragged.value.deed]}
        </span>
      )}
    </section>
  );
}

function Target({ name, title, chosen }: { readonly name: string; readonly title: string; readonly chosen: string }) {
  return (
    <label class={`target ${name.slice(0, 1)}`}>
      <input
        type="radio"
        name="target"
        checked={chosen === name}
        onChange={() => {
          pick(name);
        }}
      />
      {title}
    </label>
  );
}

/** Chooses between a deed and the one that undoes it: the one that would change something now. */
function isShown(deed: Deed, on: string): boolean {
  if (!fits(deed, on)) return false;
  const pairs: Partial<Record<Deed, Deed>> = { pause: 'go', cut: 'mend' };
  if (deed === 'go' || deed === 'mend') return possible(deed, on);
  return !pairs[deed] || !possible(pairs[deed], on);
}

/** Whether it would change anything now. */
function possible(deed: Deed, on: string): boolean {
  if (!fits(deed, on)) return false;
  const { people, engines } = moment.value!;
  const it = [...people, ...engines].find(({ name }) => name === on);
  if (!it) return true;
  if (it.dead) return false;
  if (deed === 'take') return people.find(({ name }) => name === on)!.doing === 'idle';
  if (deed === 'pause') return !it.paused;
  if (deed === 'go') return it.paused;
  if (deed === 'cut') return !it.cut;
  return deed !== 'mend' || it.cut;
}

/** What was done so far, and how to take it back. */
function Yours() {
  const { ui, deeds } = words.value;
  if (faults.value.length === 0) return null;
  return (
    <div class="yours">
      <b>{ui.yours}</b>
      <ol>
        {faults.value.map(({ at, deed, on }, i) => (
          <li key={`${at}${deed}${on}${i}`}>
            {Math.round(at)} ms: {on.length > 1 ? nameFor(words.value, on.replace(/-\d+$/, ''), several.value) : on},{' '}
            {deeds[deed]}
          </li>
        ))}
      </ol>
      <button type="button" onClick={() => undo(false)}>
        {ui.undo}
      </button>{' '}
      <button type="button" onClick={() => undo(true)}>
        {ui.clear}
      </button>
    </div>
  );
}
