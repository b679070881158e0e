import { type Card, type Layout, layoutOf, placesOf, WIDTH } from '../model/places.ts';
import { type PersonNow, type Plan, peopleAt } from '../model/scene.ts';
import { words } from '../state.ts';
import { Padlock, Parcel } from './figures.tsx';
import { Person } from './person.tsx';

/** Many who want few things: the things above, who is at them, the line, and the processes below. */
export function Rush({ plan, processes, at, label }: { plan: Plan; processes: number; at: number; label: string }) {
  const layout = layoutOf(plan, processes);
  const people = peopleAt(plan, at);
  const places = placesOf(plan, layout, people);
  const inEach = plan.side.strategy === 'in-process';
  return (
    <svg viewBox={`0 0 ${WIDTH} ${layout.height}`} role="img" aria-label={label}>
      {plan.line && <Lines layout={layout} />}
      {layout.cards.map((card) => (
        <Thing key={card.thing} plan={plan} card={card} layout={layout} people={people} shared={!inEach} />
      ))}
      {layout.boxes.map(({ process, x, y, width, height }) => (
        <g key={process} class={`box process-${process}`}>
          <rect x={x} y={y} width={width} height={height} rx="8" />
          <text x={x + 10} y={y + 14}>
            {words.value.process(process)}
          </text>
          {inEach && (
            <g transform={`translate(${x + width - 14} ${y + 12})`}>
              <Padlock held={people.some((each) => each.process === process && each.doing === 'inside')} />
            </g>
          )}
        </g>
      ))}
      {people.map((person) => (
        <Person key={person.who} scene={plan.scene} person={person} place={places.get(person.who)!} />
      ))}
    </svg>
  );
}

interface ThingProps {
  readonly plan: Plan;
  readonly card: Card;
  readonly layout: Layout;
  readonly people: readonly PersonNow[];
  /** Whether the lock, if there is one, is one for all processes. */
  readonly shared: boolean;
}

function Thing({ plan, card, layout, people, shared }: ThingProps) {
  const { x, width, height, thing, slots } = card;
  const text = words.value;
  const sale = plan.scene === 'sale';
  const here = people.filter((person) => (person.thing ?? 0) === thing);
  const inside = here.filter(({ doing }) => doing === 'inside');
  const wrong = here.filter(({ doing }) => doing === 'wrong').length;
  const given = here.filter(({ doing }) => doing === 'won').length;
  const tokens = inside.filter(({ token }) => token !== undefined);
  const locked = plan.line && shared;
  const name = sale ? (plan.side.things.length > 1 ? text.segment(thing) : text.shelf) : text.order(thing);
  const holder = locked && tokens.length === 1 ? tokens[0] : undefined;
  return (
    <g class={wrong > 0 ? 'thing wrong' : given > 0 ? 'thing given' : 'thing'} data-thing={thing}>
      <rect x={x} y="2" width={width} height={height} rx="10" />
      <text class="name" x={x + 10} y="19">
        {name}
      </text>
      {locked && (
        <g transform={`translate(${x + width - 16} 14)`}>
          <Padlock held={holder !== undefined} />
        </g>
      )}
      {slots.map((slot, i) => (
        <g key={`${slot.x}`} transform={`translate(${slot.x} ${slot.y})`}>
          {sale ? i >= taken(plan, card, people) && <Parcel /> : <circle class="slot" r="13" />}
        </g>
      ))}
      <text class="read" x={x + width / 2} y={height + 18}>
        {readings(plan, inside)}
      </text>
      {holder && (
        <text class="token" x={x + width / 2} y={layout.inside + 20}>
          {text.token(holder.token!)}
        </text>
      )}
    </g>
  );
}

/** Units that are gone from a shelf: those it sold, and those that went to shelves that had none left. */
function taken({ side, units }: Plan, { thing, units: own }: Card, people: readonly PersonNow[]): number {
  const soldAt = (shelf: number) => people.filter((each) => each.doing === 'won' && (each.thing ?? 0) === shelf).length;
  const free = side.things.map((each) => Math.max(0, each.units - soldAt(each.thing)));
  let moved = free.reduce((sum, n) => sum + n, 0) - (units - people.filter(({ doing }) => doing === 'won').length);
  for (const [i, each] of side.things.entries()) {
    const gone = Math.min(moved, free[i]!);
    moved -= gone;
    if (each.thing === thing) return own - free[i]! + gone;
  }
  return 0;
}

/** What those who are inside have read: a word for all who have read the same. */
function readings({ scene }: Plan, inside: readonly PersonNow[]): string {
  const counts = new Map<number, number>();
  for (const { left } of inside) if (left !== undefined) counts.set(left, (counts.get(left) ?? 0) + 1);
  return [...counts].map(([left, count]) => words.value.read(scene, count, left)).join(' · ');
}

function Lines({ layout }: { layout: Layout }) {
  if (layout.wide) return null;
  const bottom = layout.boxes[0]!.y - 6;
  return (
    <g class="line">
      {layout.cards.map(({ thing, x, width }) => (
        <path key={thing} d={`M${x + width / 2} ${layout.line - 8}V${bottom}`} />
      ))}
    </g>
  );
}
