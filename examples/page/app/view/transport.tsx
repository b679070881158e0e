import { end, ended, now, playing, SPEEDS, seek, slower, step, toggle } from '../player.ts';
import { words } from '../state.ts';

/** What one plays a recording with. */
export function Transport() {
  const text = words.value;
  return (
    <div class="transport">
      <button type="button" class="play" onClick={toggle} aria-label={playing.value ? text.pause : text.play}>
        <svg viewBox="-12 -12 24 24" aria-hidden="true">
          <path d={playing.value ? 'M-6-7h4v14h-4zM2-7h4v14h-4z' : 'M-5-8L8 0L-5 8z'} />
        </svg>
      </button>
      <button type="button" onClick={() => step(-1)} aria-label={text.back} disabled={now.value <= 0}>
        <svg viewBox="-12 -12 24 24" aria-hidden="true">
          <path d="M5-7v14L-4 0zM-7-7h3v14h-3z" />
        </svg>
      </button>
      <button type="button" onClick={() => step(1)} aria-label={text.forward} disabled={ended.value}>
        <svg viewBox="-12 -12 24 24" aria-hidden="true">
          <path d="M-5-7v14L4 0zM4-7h3v14H4z" />
        </svg>
      </button>
      <input
        type="range"
        min="0"
        max={end.value}
        step="any"
        value={now.value}
        aria-label={text.time}
        aria-valuetext={text.clock(now.value, end.value)}
        onInput={({ currentTarget }) => seek(Number(currentTarget.value))}
      />
      <output>{text.clock(now.value, end.value)}</output>
      <select
        aria-label={text.speed}
        value={slower.value}
        onChange={({ currentTarget }) => {
          slower.value = Number(currentTarget.value);
        }}
      >
        {SPEEDS.map((factor) => (
          <option key={factor} value={factor}>
            {text.slower(factor)}
          </option>
        ))}
      </select>
    </div>
  );
}
