import { round, type SideName, tally, words } from '../state.ts';

/** A square for each round: what goes wrong goes wrong every time. */
export function Tally() {
  const text = words.value;
  if (!round.value || tally.value.length === 0) return null;
  const { scene } = round.value;
  const names: Readonly<Record<SideName, string>> = {
    without: text.without[scene],
    with: text.strategy[scene][round.value.with.strategy]!.name,
  };
  return (
    <section class="tally">
      <h2>{text.tally}</h2>
      {(Object.keys(names) as SideName[]).map((side) => {
        const wrong = tally.value.filter((each) => !each[side]).length;
        return (
          <div key={side} data-tally={side} data-rounds={tally.value.length} data-wrong={wrong}>
            <b>{names[side]}</b>
            <span class="squares" aria-hidden="true">
              {tally.value.slice(-40).map((each, i) => (
                <i key={`${i}`} class={each[side] ? 'right' : 'wrong'} />
              ))}
            </span>
            <span>{text.rounds(tally.value.length, wrong)}</span>
          </div>
        );
      })}
    </section>
  );
}
