import { computed } from '@preact/signals';
import { toneOf } from '../stage/events.ts';
import { type Bar, lanes, overlaps } from '../stage/lanes.ts';
import { playing, recording, seek, time, words } from './state.ts';

const drawn = computed(() => {
  const { moments, ends } = recording.value ?? { moments: [], ends: 0 };
  if (moments.length === 0) return undefined;
  const all = lanes(moments, ends);
  return { all, red: overlaps(all), ends };
});

const TICK = 500;

/** The holders over time: what each process counted on, and below it what the engine kept. */
export function Timeline() {
  const { ui, ms } = words.value;
  const what = drawn.value;
  if (!what) return null;
  const { all, red, ends } = what;
  const place = ({ from, to }: Bar) => ({ left: `${(from / ends) * 100}%`, width: `${((to - from) / ends) * 100}%` });
  const bars = (name: string, list: readonly Bar[]) =>
    list.map((bar) => <span key={`${name}${bar.from}`} class={`bar ${name}`} style={place(bar)} />);
  const ticks = Array.from({ length: Math.floor(ends / TICK) + 1 }, (_, i) => i * TICK);
  return (
    <section class="timeline" aria-label={ui.timeline}>
      <div class="top">
        <h2>{ui.timeline}</h2>
        <ul class="legend">
          {(['believes', 'kept', 'vain', 'asks', 'paused', 'two'] as const).map((name) => (
            <li key={name}>
              <span class={`key ${name}`} />
              {ui[name]}
            </li>
          ))}
        </ul>
      </div>
      <div class="chart">
        {all.map((lane) => (
          <div key={lane.who} class={`lane ${lane.who}`}>
            <b>{lane.who}</b>
            <div class="bars">
              {bars('asks', lane.asks)}
              {bars('believes', lane.believes)}
              {bars('kept', lane.kept)}
              {bars('vain', lane.vain)}
              {bars('halted', lane.paused)}
              {bars('gone', lane.dead)}
            </div>
          </div>
        ))}
        <div class="over">
          {red.map((bar) => (
            <span key={bar.from} class="bar two" style={place(bar)} title={ui.two} />
          ))}
          <Marks ends={ends} />
          <span class="now" style={{ left: `${(time.value / ends) * 100}%` }} />
        </div>
        <div class="ticks" aria-hidden="true">
          {ticks.map((at) => (
            <span key={at} style={{ left: `${(at / ends) * 100}%` }}>
              {at % 1_000 === 0 ? ms(at) : ''}
            </span>
          ))}
        </div>
        <input
          type="range"
          aria-label={ui.time}
          aria-valuetext={ms(time.value)}
          min={0}
          max={Math.ceil(ends)}
          step={10}
          value={time.value}
          onInput={(event) => {
            playing.value = false;
            seek(Number(event.currentTarget.value));
          }}
        />
      </div>
    </section>
  );
}

/** Faults and harms, as small marks. */
function Marks({ ends }: { readonly ends: number }) {
  const marks = recording.value!.happenings.filter(({ what }) => ['bad', 'fault'].includes(toneOf(what)));
  return (
    <>
      {marks.map(({ at, what, who }) => (
        <span key={`${at}${what}${who}`} class={`mark ${toneOf(what)}`} style={{ left: `${(at / ends) * 100}%` }} />
      ))}
    </>
  );
}
