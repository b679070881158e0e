import { ended } from '../player.ts';
import { round, type SideName, tally, words } from '../state.ts';

/** A square for each round: what goes wrong goes wrong every time. */
export function Tally() {
  const text = words.value;
  const told = ended.value ? tally.value : tally.value.slice(0, -1); // not before the pictures tell it
  if (!round.value || told.length === 0) return null;
  const { scene } = round.value;
  const names: Readonly<Record<SideName, string>> = {
    without: text.without[scene],
    with: text.strategy[scene][round.value.with.strategy]!.name,
  };
  return (
    <section class="tally">
      <h2>{text.tally}</h2>
      {(Object.keys(names) as SideName[]).map((side) => {
        const wrong = told.filter((each) => !each[side]).length;
        return (
          <div key={side} data-tally={side} data-rounds={told.length} data-wrong={wrong}>
            <b>{names[side]}</b>
            <span class="squares" aria-hidden="true">
              {told.slice(-40).map((each, i) => (
                <i key={`${i}`} class={each[side] ? 'right' : 'wrong'} />
              ))}
            </span>
            <span>{text.rounds(told.length, wrong)}</span>
          </div>
        );
      })}
    </section>
  );
}
