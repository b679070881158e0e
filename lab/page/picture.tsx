import { LINGERS, type Message, progress } from '../stage/message.ts';
import { believes, type EngineView, type Moment, type PersonView, wants } from '../stage/recording.ts';
import { nameFor } from '../words/index.ts';
import { ANSWERS } from './answers.ts';
import { dropped } from './drag.ts';
import { between, HEIGHT, link } from './places.ts';
import { moment, pick, picked, recording, scene, several, target, time, way, words } from './state.ts';

const PEOPLE = ['A', 'B', 'C'];

/** Everything as it is at this time: engines above, processes in the middle, the counter below, messages in between. */
export function Picture() {
  const now = moment.value;
  if (!now) return <div class="picture" />;
  const at = time.value;
  const crowd = now.people.filter((person) => believes(person, at)).length > 1;
  return (
    <div class="picture" style={{ height: `${HEIGHT}px` }}>
      <Links now={now} />
      <div class={`engines of-${now.engines.length}`}>
        {now.engines.map((engine) => (
          <Engine key={engine.name} engine={engine} at={at} />
        ))}
      </div>
      <div class="people">
        {now.people.map((person) => (
          <Person key={person.name} person={person} at={at} crowd={crowd} />
        ))}
      </div>
      <Resource now={now} />
      <Messages at={at} engines={now.engines.length} />
    </div>
  );
}

function Links({ now }: { readonly now: Moment }) {
  const places = [...now.engines.map(({ name }) => name), 'resource'];
  const lines = PEOPLE.flatMap((who, i) =>
    places.map((place) => {
      const [from, to] = link(who, place, now.engines.length)!;
      const cut = now.people[i]!.cut || now.engines.some(({ name, cut }) => cut && name === place);
      return <line key={`${who}${place}`} class={cut ? 'cut' : ''} x1={from.x} y1={from.y} x2={to.x} y2={to.y} />;
    }),
  );
  return (
    <svg class="links" viewBox={`0 0 100 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {lines}
    </svg>
  );
}

/** A card that can be chosen, and dropped on. */
function choosable(name: string) {
  return {
    'data-name': name,
    'aria-pressed': picked.value && target.value === name,
    class: '',
    onClick: () => {
      if (!dropped.peek()) pick(name);
    },
  };
}

function Engine({ engine, at }: { readonly engine: EngineView; readonly at: number }) {
  const { ui } = words.value;
  const { people } = moment.value!;
  const { name, line, dead, paused } = engine;
  const title = nameFor(words.value, name, several.value);
  return (
    <button type="button" {...choosable(name)} class={`card engine ${dead ? 'dead' : ''} ${paused ? 'paused' : ''}`}>
      <span class="head">
        <b>{title}</b>
        {dead ? <i class="state">{ui.dead}</i> : paused ? <i class="state">{ui.paused}</i> : null}
      </span>
      <span class="line">
        {line.length === 0 && <span class="none">{ui.free}</span>}
        {line.map(({ who, held, token, expires }, i) => {
          const left = expires === undefined ? Number.POSITIVE_INFINITY : Math.max(0, expires - at);
          const over = held && left <= 0;
          const vain = held && !over && !dead && !people.some((person) => person.name === who && wants(person));
          return (
            <span
              key={`${who}${i}`}
              class={`standing ${who} ${held ? 'held' : 'waits'} ${over ? 'over' : ''} ${vain ? 'vain' : ''}`}
            >
              <b>{who}</b> {held ? (token ? `${ui.token} ${token}` : ui.holder) : ui.waits}
              {vain && <i class="harm"> {ui.vain}</i>}
              {held && (
                <span class="lease">
                  <span class="rest" style={{ width: `${part(left)}%` }} />
                  <span class="says">
                    {over ? ui.over : left < Number.POSITIVE_INFINITY ? words.value.ms(left) : ui.noEnd}
                  </span>
                </span>
              )}
            </span>
          );
        })}
      </span>
    </button>
  );
}

/** How full the bar of a lease is, in parts of 100. */
const part = (left: number): number => Math.min(100, (left / (scene.value[way.value].ttl ?? scene.value.ttl)) * 100);

function Person({ person, at, crowd }: { readonly person: PersonView; readonly at: number; readonly crowd: boolean }) {
  const { ui, ms } = words.value;
  const { name, doing, paused, dead, cut, belief, done, failed } = person;
  const holds = believes(person, at);
  const ahead = scene.value.ahead?.[name];
  const state = dead
    ? ui.dead
    : { idle: ui.idle, asks: ui.asking, works: holds ? ui.works : ui.over, gives: ui.giving }[doing];
  const left = holds && belief?.until !== undefined ? belief.until - at : undefined;
  const classes = `card person ${name} ${holds ? 'holds' : ''} ${holds && crowd ? 'crowd' : ''} ${dead ? 'dead' : ''} ${paused ? 'paused' : ''}`;
  return (
    <button type="button" {...choosable(name)} class={classes}>
      <span class="head">
        <b>{name}</b>
        <i class="state">{state}</i>
      </span>
      {paused && !dead && <span class="badge">❚❚ {ui.paused}</span>}
      {cut && !dead && <span class="badge">✂ {ui.cut}</span>}
      {holds && (
        <span class="belief">
          <span class="label">{belief?.token ? `${ui.token} ${belief.token}` : ui.believes}</span>
          <span class="lease">
            <span class="rest" style={{ width: `${left === undefined ? 100 : part(left)}%` }} />
            <span class="says">{left === undefined ? ui.noEnd : ms(left)}</span>
          </span>
        </span>
      )}
      <span class="foot">
        {ahead ? <span>{`${ui.ahead} +${ms(ahead)}`}</span> : null}
        {failed ? <span class="failed">✗ {failed}</span> : done > 0 ? `✓ ${done > 1 ? done : ''}` : ''}
      </span>
    </button>
  );
}

function Resource({ now }: { readonly now: Moment }) {
  const { ui } = words.value;
  const { value, lost, newest } = now.resource;
  const guarded = !scene.value[way.value].naive;
  return (
    <div class={`card resource ${lost > 0 ? 'harmed' : ''}`}>
      <span>
        {ui.counter} <b class="value">{value}</b>
        {lost > 0 && (
          <span class="harm">
            {' '}
            −{lost} {ui.lostWrites}
          </span>
        )}
      </span>
      <span class="guard">{guarded ? `${ui.guard} ${newest ?? '–'}` : ui.noGuard}</span>
    </div>
  );
}

function Messages({ at, engines }: { readonly at: number; readonly engines: number }) {
  const flying = recording.value!.messages.filter(({ sent, due, lost = due }) => sent <= at && at <= lost + LINGERS);
  return (
    <>
      {flying.map((message) => (
        <Dot key={message.id} message={message} at={at} engines={engines} />
      ))}
    </>
  );
}

function Dot({ message, at, engines }: { readonly message: Message; readonly at: number; readonly engines: number }) {
  const { id, from, to, kind, answer, says, held } = message;
  const way = link(from, to, engines);
  const done = progress(message, at);
  if (!way || done === undefined) return null;
  const { x, y } = between(way, done);
  const person = from.length === 1 ? from : to;
  const lost = message.lost !== undefined && at >= message.lost;
  const stands = held && at >= held.at && at < held.at + held.ms;
  const text = lost ? '✕' : answer ? ANSWERS[says] : words.value.messages[kind];
  const classes = `message ${person} ${answer ? 'answer' : ''} ${lost ? 'lost' : ''} ${stands ? 'stands' : ''}`;
  return (
    <button
      type="button"
      tabIndex={-1}
      class={classes}
      data-name={id}
      aria-pressed={picked.value && target.value === id}
      style={{ left: `${x}%`, top: `${y}px` }}
      onClick={() => {
        if (!lost) pick(id);
      }}
    >
      {text}
    </button>
  );
}
